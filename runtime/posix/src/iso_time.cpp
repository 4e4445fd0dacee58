#include "iso_time.hpp"

#include <chrono>

#include <fmt/chrono.h>

namespace millrace::posix {

std::string iso_time(EventTime time) {
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> point{milliseconds{time.ms}};
  const auto second = std::chrono::floor<std::chrono::seconds>(point);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     (point - second).count());
}

}  // namespace millrace::posix
