#include "millrace/runtime/flow/gate.hpp"

#include <algorithm>

#include "millrace/env/invariant.hpp"

namespace millrace {

GateAction Gate::barrier(int lane, CheckpointId id) {
  GateAction action;
  if (id < current_ || (id == current_ && count_ == 0)) {
    return action;  // Of a checkpoint that is over: the lane stays open (BA-2).
  }
  if (id > current_) {
    action.release_all = count_ != 0;  // A newer barrier ends an older alignment (BA-3).
    forget();
    current_ = id;
    action.begins = true;
  }
  const auto at = static_cast<std::size_t>(lane);
  invariant(!arrived_[at], "a lane that has delivered its barrier is held");
  arrived_[at] = true;
  ++count_;
  if (count_ == arrived_.size()) {
    action.complete = true;
    forget();
  } else {
    action.hold = true;
  }
  return action;
}

bool Gate::abort(CheckpointId id) {
  if (id < current_) return false;
  const bool was_aligning = count_ != 0;
  current_ = id;
  forget();
  return was_aligning;
}

void Gate::forget() {
  std::fill(arrived_.begin(), arrived_.end(), false);
  count_ = 0;
}

}  // namespace millrace
