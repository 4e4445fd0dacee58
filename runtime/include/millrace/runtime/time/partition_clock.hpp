#pragma once

#include <algorithm>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// The watermark of one partition, derived from its records in their order: the newest event time,
/// less the disorder, less one (WM-1). Part of every checkpoint.
class PartitionClock {
 public:
  PartitionClock() = default;
  PartitionClock(Disorder disorder, EventTime newest, bool ended)
      : disorder_(disorder), newest_(newest), ended_(ended) {}

  void observe(EventTime time) { newest_ = std::max(newest_, time); }
  /// No more records: the end of input is the largest watermark (WM-8).
  void end() { ended_ = true; }

  EventTime newest() const { return newest_; }
  bool has_ended() const { return ended_; }

  /// No record at or before it follows, unless it is out of order by more than was promised.
  EventTime watermark() const {
    if (ended_) return EventTime::max();
    if (newest_ == EventTime::min()) return EventTime::min();  // Nothing is known yet.
    return newest_ - disorder_.at_most - Duration{1};
  }

 private:
  Disorder disorder_;
  EventTime newest_ = EventTime::min();
  bool ended_ = false;
};

}  // namespace millrace
