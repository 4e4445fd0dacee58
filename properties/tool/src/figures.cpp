#include "figures.hpp"

#include <chrono>

#include <fmt/format.h>

namespace millrace::tool {

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  std::size_t unit = 0;
  std::uint64_t size = bytes;  // In units of which 1024 are one of `units[unit]`.
  while (size >= 1024 * 1024 && unit + 1 < std::size(units)) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{}.{} {}", size / 1024, size % 1024 * 10 / 1024, units[unit]);
}

std::string time_text(EventTime time) {
  if (time < earliest_event_time || time > latest_event_time) return "-";
  const std::chrono::sys_time<std::chrono::milliseconds> point{std::chrono::milliseconds{time.ms}};
  const auto day = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{point - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace millrace::tool
