#include "millrace/posix/real_clock.hpp"

#include <chrono>

namespace millrace::posix {

Instant RealClock::now() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count()};
}

EventTime RealClock::wall() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

}  // namespace millrace::posix
