#include "millrace/posix/thread_parker.hpp"

#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "millrace/env/error.hpp"
#include "millrace/posix/real_clock.hpp"

namespace millrace::posix {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Returns at the deadline, after a wake-up, when the word is not `expected`, or for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Instant deadline) {
  constexpr std::int64_t second = 1'000'000'000;
  ::timespec until{};
  until.tv_sec = deadline.ns / second;
  until.tv_nsec = deadline.ns % second;
  // Unlike FUTEX_WAIT this takes the instant itself, of the clock that RealClock reads.
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
            deadline == Instant::never() ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

/// The word may be gone: the kernel only looks for sleepers at its address.
void futex_wake_one(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

bool ThreadParker::park_until(Instant deadline) {
  while (true) {
    throw_if_cancelled();
    std::uint32_t found = unparked;
    if (state_.compare_exchange_strong(found, working)) {
      throw_if_cancelled();  // That may have been the wake-up.
      return true;
    }
    // Only this thread parks, so what was found is `working`.
    if (!state_.compare_exchange_strong(found, parked)) continue;
    futex_wait(state_, parked, deadline);
    if (state_.exchange(working) == unparked) {
      throw_if_cancelled();
      return true;
    }
    if (RealClock().now() >= deadline) {
      throw_if_cancelled();
      return false;
    }
  }
}

void ThreadParker::unpark() {
  if (state_.exchange(unparked) == parked) futex_wake_one(state_);
}

void ThreadParker::cancel() {
  cancelled_ = true;
  unpark();
}

void ThreadParker::throw_if_cancelled() const {
  if (cancelled_.load(std::memory_order_relaxed)) throw Cancelled{};
}

}  // namespace millrace::posix
