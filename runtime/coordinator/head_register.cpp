#include "millrace/runtime/coordinator/head_register.hpp"

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site nonce{"head.nonce"};
constexpr Site again{"head.again"};

constexpr auto call_patience = 5s;
constexpr auto store_patience = 60s;
constexpr auto pause_between_repeats = 50ms;

/// Waits between two attempts at the store, and gives up when there were enough. Dying is fine:
/// what is unknown stays unknown to whoever comes next, and the register tells (PROTOCOL 1.3).
class Patience {
 public:
  explicit Patience(Env& env) : env_(env), give_up_(env.in(store_patience)) {}

  void wait(std::string_view last_error) {
    if (env_.now() >= give_up_) {
      throw JobFailed(fmt::format("the checkpoint store is of no use for {} s now: {}",
                                  std::chrono::seconds(store_patience).count(), last_error));
    }
    env_.step(again);
    env_.sleep(pause_between_repeats);
  }

 private:
  Env& env_;
  Instant give_up_;
};

/// Calls `attempt` until it returns something.
template <class Attempt>
auto until_answered(Env& env, Attempt attempt) {
  Patience patience(env);
  while (true) {
    std::string error = "its answers are lost";
    try {
      if (auto answer = attempt()) return *std::move(answer);
    } catch (const CorruptObject&) {
      throw;  // Asking again would give the same.
    } catch (const WorldError& world) {
      error = world.what();
    }
    patience.wait(error);
  }
}

Refused unreadable(const std::string& what) { return {Refusal::state_unreadable, what}; }

}  // namespace

const VersionedHead& HeadRegister::read() {
  known_ = fetch();
  return known_;
}

VersionedHead HeadRegister::fetch() {
  try {
    return until_answered(env_, [this]() -> std::optional<VersionedHead> {
      const Versioned found = env_.store.read_register(object_names::head, env_.in(call_patience));
      VersionedHead head{found.version, std::nullopt};
      if (found.version != 0) head.head = decode_head(found.bytes);
      return head;
    });
  } catch (const CorruptObject& corrupt) {
    throw unreadable(corrupt.what());
  }
}

void HeadRegister::confirm() {
  if (fetch().version == known_.version) return;
  LandmarkFields fields;
  fields.id.term = known_.head ? known_.head->term : Term{};
  env_.landmark(landmarks::ownership_lost, fields);
  throw OwnershipLost{};
}

void HeadRegister::swap(Head next) {
  next.nonce = env_.chance.unique(nonce);
  const Bytes bytes = encode_head(next);
  LandmarkFields fields;
  fields.id = next.checkpoint.term == next.term ? next.checkpoint : CheckpointId{next.term, 0};
  Patience patience(env_);
  for (;; ++fields.retry) {
    env_.landmark(landmarks::head_swap_begun, fields);
    SwapFacts facts;
    std::string error = "its answers are lost";
    try {
      facts.outcome = env_.store.put_if_version(object_names::head, known_.version, bytes,
                                                env_.in(call_patience));
    } catch (const WorldError& world) {
      facts.outcome = SwapOutcome::unknown;
      error = world.what();
    }
    if (facts.outcome == SwapOutcome::refused) facts.found = fetch().head;
    switch (decide_swap(facts, next)) {
      case SwapStep::won:
        known_ = {known_.version + 1, next};
        env_.landmark(landmarks::head_swapped, fields);
        return;
      case SwapStep::lost: env_.landmark(landmarks::ownership_lost, fields); throw OwnershipLost{};
      case SwapStep::repeat: break;
    }
    env_.landmark(landmarks::head_outcome_unknown, fields);
    patience.wait(error);
  }
}

void store_manifest(Env& env, const Manifest& manifest, std::span<const std::byte> bytes) {
  const std::string name = name_of(manifest);
  until_answered(env, [&]() -> std::optional<PutOutcome> {
    const auto outcome = put(env.store, name, bytes, env.in(call_patience));
    if (outcome == PutOutcome::unknown) return std::nullopt;
    return outcome;
  });
}

Manifest load_manifest(Env& env, const Head& head) {
  const auto bytes = until_answered(env, [&]() -> std::optional<std::optional<Bytes>> {
    return read_whole(env.store, head.manifest, env.in(call_patience));
  });
  if (!bytes) {
    throw unreadable(fmt::format("{}: the head names it, and it is not there", head.manifest));
  }
  if (checksum(*bytes) != head.manifest_checksum) {
    throw unreadable(fmt::format("{}: it is not what the head says it is", head.manifest));
  }
  try {
    return decode_manifest(*bytes, head.manifest);
  } catch (const CorruptObject& corrupt) {
    throw unreadable(corrupt.what());
  }
}

}  // namespace millrace
