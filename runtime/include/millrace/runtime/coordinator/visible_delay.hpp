#pragma once

#include <chrono>
#include <deque>

#include "millrace/env/identity.hpp"
#include "millrace/env/instant.hpp"

namespace millrace {

/// How long records wait until the rows that they make are visible in a staged sink: at most from
/// the moment when a checkpoint was triggered until the one behind it is published. Measured for
/// people; nothing is decided by it.
class VisibleDelay {
 public:
  /// The tasks run, and read what no checkpoint holds.
  void running(Instant now) { reading_since_ = now; }
  /// The sources were asked for the barriers of a checkpoint. If it is given up, another follows.
  void triggered(Instant now) { triggered_ = now; }
  /// The one that was triggered last is decided.
  void decided(CheckpointId id);
  /// Everything up to this checkpoint is visible.
  void published(CheckpointId visible, Instant now);

  /// The longest that a record can have waited so far; 0: nothing was published.
  std::chrono::nanoseconds longest() const { return longest_; }

 private:
  struct Decided {
    CheckpointId id;
    Instant reading_since;
  };
  Instant reading_since_;  ///< What was read from here on is in no decided checkpoint.
  Instant triggered_;
  std::deque<Decided> waiting_;
  std::chrono::nanoseconds longest_{0};
};

}  // namespace millrace
