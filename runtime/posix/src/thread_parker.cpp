#include "millrace/posix/thread_parker.hpp"

#include <chrono>
#include <utility>

#include "millrace/env/error.hpp"

namespace millrace::posix {

bool ThreadParker::park_until(Instant deadline) {
  std::unique_lock lock(mutex_);
  const auto may_go = [this] { return unparked_ || cancelled_; };
  if (deadline == Instant::never()) {
    woken_.wait(lock, may_go);
  } else {
    using Clock = std::chrono::steady_clock;
    woken_.wait_until(lock, Clock::time_point{std::chrono::nanoseconds{deadline.ns}}, may_go);
  }
  throw_if_cancelled();
  return std::exchange(unparked_, false);
}

// The lock is held during the notification: once it is free, the one who was waiting may be gone,
// and this parker with it.

void ThreadParker::unpark() {
  const std::lock_guard lock(mutex_);
  unparked_ = true;
  woken_.notify_one();
}

void ThreadParker::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  woken_.notify_one();
}

void ThreadParker::throw_if_cancelled() const {
  if (cancelled_.load(std::memory_order_relaxed)) throw Cancelled{};
}

}  // namespace millrace::posix
