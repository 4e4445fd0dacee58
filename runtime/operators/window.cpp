#include "millrace/runtime/window.hpp"

#include <string_view>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

constexpr Duration longest_window = std::chrono::hours(24) * 100'000;

void expect_length(std::string_view what, Duration length) {
  if (length > Duration::zero() && length <= longest_window) return;
  throw UsageError(
      fmt::format("a window of {0} ms: its {1} is expected to be positive and at most 100,000 days",
                  length.count(), what));
}

}  // namespace

Sliding tumbling(Duration size, Duration offset) { return sliding(size, size, offset); }

Sliding sliding(Duration size, Duration slide, Duration offset) {
  expect_length("size", size);
  if (slide <= Duration::zero() || slide > size) {
    throw UsageError(fmt::format(
        "a window of {} ms every {} ms: its slide is expected to be positive and at most its size",
        size.count(), slide.count()));
  }
  const Duration behind = offset % slide;
  return {size, slide, behind < Duration::zero() ? behind + slide : behind};
}

Sessions sessions(Duration gap) {
  expect_length("gap", gap);
  return {gap};
}

std::string describe(const Sliding& windows) {
  return fmt::format("windows of {} ms every {} ms, {} ms behind", windows.size.count(),
                     windows.slide.count(), windows.offset.count());
}
std::string describe(const Sessions&) { return "sessions"; }
std::string describe(const Global&) { return "one window"; }

void expect_lateness(Duration lateness) {
  if (lateness < Duration::zero()) {
    throw UsageError(fmt::format("an allowed lateness of {} ms: it is expected to be 0 or more",
                                 lateness.count()));
  }
}

}  // namespace millrace
