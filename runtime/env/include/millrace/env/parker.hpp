#pragma once

#include "millrace/env/chance.hpp"
#include "millrace/env/instant.hpp"

namespace millrace {

/// One task's place in the schedule: where it waits, is woken, and lets others go first.
///
/// Belongs to one task. Everything that the task can wait for (channels, connections, readers) is
/// bound to its parker and calls `unpark` when there is something to look at. So a task looks at
/// all of it, finds nothing to do, and parks; a wake-up between the look and the park is latched
/// and not lost.
class Parker {
 public:
  virtual ~Parker() = default;

  /// Waits until `unpark` or the deadline. Returns at once if `unpark` came since the last return.
  ///
  /// Returns whether it was unparked; true says only that looking again is worth while.
  /// Throws Cancelled, Killed.
  virtual bool park_until(Instant deadline) = 0;

  /// Ends the present or the next `park_until`. From any task, at any time, without waiting.
  virtual void unpark() = 0;

  /// Says that a piece of work is done: another task may go first, and time may pass.
  ///
  /// Called once a batch, around every step of the protocol and in every loop that tries again. In
  /// the real world it does nothing but see whether the task was cancelled.
  /// Throws Cancelled, Killed.
  virtual void step(Site site) = 0;
};

/// A wait inside of a call, for something of the call's own: room in a channel, an answer.
///
/// It takes wake-ups that may have been meant for the task's own loop, which has looked already and
/// is about to park. So one is given back at the end, and the loop looks once more rather than
/// never. Every call of the seam that waits does it so.
class InnerWait {
 public:
  explicit InnerWait(Parker& self) : self_(self) {}
  InnerWait(const InnerWait&) = delete;
  InnerWait& operator=(const InnerWait&) = delete;
  ~InnerWait() {
    if (took_wake_up_) self_.unpark();
  }

  /// As Parker::park_until.
  bool until(Instant deadline) {
    const bool unparked = self_.park_until(deadline);
    took_wake_up_ = took_wake_up_ || unparked;
    return unparked;
  }

 private:
  Parker& self_;
  bool took_wake_up_ = false;
};

}  // namespace millrace
