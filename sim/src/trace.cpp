#include "millrace/sim/trace.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace millrace::sim {

struct Trace::State {
  XXH3_state_t xxh3;
};

Trace::Trace() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Trace::~Trace() = default;

void Trace::flush() {
  XXH3_64bits_update(&state_->xxh3, events_, count_ * sizeof(TraceEvent));
  if (listener_) {
    for (std::size_t i = 0; i < count_; ++i) listener_(events_[i]);
  }
  flushed_ += count_;
  count_ = 0;
}

std::uint64_t Trace::hash() {
  flush();
  return XXH3_64bits_digest(&state_->xxh3);
}

namespace {

std::string what_happened(const TraceEvent& event) {
  constexpr int kind_bits = 56;
  const std::uint64_t a = event.kind_and_a & ((std::uint64_t{1} << kind_bits) - 1);
  switch (static_cast<EventKind>(event.kind_and_a >> kind_bits)) {
    case EventKind::resumed: return fmt::format("task {} resumed", a);
    case EventKind::time: return fmt::format("time goes on to {} ns", a);
    case EventKind::sent:
      return fmt::format("{} bytes sent by end {}, checksum {:016x}", event.b, a, event.c);
    case EventKind::delivered: return fmt::format("{} bytes delivered to end {}", event.b, a);
    case EventKind::disk:
      return fmt::format("operation {} on the disk of node {}, of {:x}", event.b, a, event.c);
    case EventKind::served: return fmt::format("operation {} served by {}", event.b, a);
    case EventKind::fault: return fmt::format("fault of kind {} at node {}", a, event.b);
    case EventKind::life: return fmt::format("life {} of node {} in state {}", event.b, a, event.c);
  }
  return fmt::format("{:x} {:x} {:x}", event.kind_and_a, event.b, event.c);
}

}  // namespace

std::string to_text(const TraceEvent& event) {
  return fmt::format("{}.{:06} ms: {}", event.at / 1'000'000, event.at % 1'000'000,
                     what_happened(event));
}

}  // namespace millrace::sim
