#include "millrace/runtime/coordinator/checkpoint_schedule.hpp"

#include <algorithm>

#include "millrace/env/invariant.hpp"

namespace millrace {

void CheckpointSchedule::start(Instant now) {
  is_started_ = true;
  periodic_ = now + options_.interval;
}

void CheckpointSchedule::ask(Instant now) {
  if (!wanted_) wanted_ = now;
}

void CheckpointSchedule::triggered(Instant now) {
  invariant(!is_pending_, "one checkpoint is pending at a time");
  is_pending_ = true;
  is_wanted_pending_ = wanted_.has_value();
  wanted_.reset();
  last_trigger_ = now;
  periodic_ = now + options_.interval;
}

void CheckpointSchedule::completed(Instant now) {
  is_pending_ = false;
  pause_end_ = now + options_.min_pause;
}

void CheckpointSchedule::failed(Instant now) {
  is_pending_ = false;
  const Instant again =
      std::max(now, last_trigger_ + std::min(options_.interval, options_.timeout));
  periodic_ = again;
  not_before_ = again;
  if (is_wanted_pending_ && !wanted_) wanted_ = now;
}

Instant CheckpointSchedule::next() const {
  if (!is_started_ || is_pending_ || has_last_) return Instant::never();
  return std::max(wanted_ ? *wanted_ : std::max(periodic_, pause_end_), not_before_);
}

}  // namespace millrace
