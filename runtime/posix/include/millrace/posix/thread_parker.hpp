#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "millrace/env/parker.hpp"

namespace millrace::posix {

/// The parker of a task that is a thread.
class ThreadParker final : public Parker {
 public:
  bool park_until(Instant deadline) override;
  void unpark() override;
  void step(Site) override { throw_if_cancelled(); }

  /// Ends the present and every later `park_until` with Cancelled. From any thread, for good.
  void cancel();
  void throw_if_cancelled() const;

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  bool unparked_ = false;
  std::atomic<bool> cancelled_ = false;
};

/// Waits on a task's parker for something of its own, such as room in a connection.
///
/// Such a wait takes wake-ups that may have been meant for the task's own loop. One is given back
/// at the end, so that the loop looks once more rather than never.
class InnerWait {
 public:
  explicit InnerWait(ThreadParker& self) : self_(self) {}
  InnerWait(const InnerWait&) = delete;
  InnerWait& operator=(const InnerWait&) = delete;
  ~InnerWait() {
    if (took_wake_up_) self_.unpark();
  }

  /// Like Parker::park_until.
  bool until(Instant deadline) {
    const bool unparked = self_.park_until(deadline);
    took_wake_up_ |= unparked;
    return unparked;
  }

 private:
  ThreadParker& self_;
  bool took_wake_up_ = false;
};

}  // namespace millrace::posix
