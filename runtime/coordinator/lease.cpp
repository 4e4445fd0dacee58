#include "millrace/runtime/coordinator/lease.hpp"

#include "millrace/env/envelope.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr auto call_patience = 1s;
constexpr std::uint16_t format_version = 1;

}  // namespace

Lease::Lease(Env& env, Term term, std::chrono::nanoseconds lease) {
  task_ = env.tasks.start("lease", [term, pause = lease / 3](Env& own) {
    for (std::uint64_t beat = 1;; ++beat) {
      Encoder out;
      out.number(beat);
      try {
        put(own.store, object_names::heartbeat(term),
            seal(Content::heartbeat, format_version, out.view()), own.in(call_patience));
      } catch (const WorldError&) {
        // A beat that is lost is made up for by the next.
      }
      own.sleep(pause);
    }
  });
}

void Lease::end() {
  task_->cancel();
  task_->join(Instant::never());
}

std::uint64_t read_heartbeat(Env& env, Term term) {
  const std::string name = object_names::heartbeat(term);
  const auto bytes = read_whole(env.store, name, env.in(call_patience));
  if (!bytes) return 0;
  return Decoder(unseal(Content::heartbeat, format_version, *bytes, name)).number<std::uint64_t>();
}

}  // namespace millrace
