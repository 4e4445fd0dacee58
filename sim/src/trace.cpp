#include "millrace/sim/trace.hpp"

#define XXH_INLINE_ALL
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

}  // namespace millrace::sim
