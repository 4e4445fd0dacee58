#include "millrace/runtime/window.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

constexpr Duration longest_window = std::chrono::hours(24) * 100'000;

}  // namespace

Tumbling tumbling(Duration size) {
  if (size <= Duration::zero() || size > longest_window) {
    throw UsageError(fmt::format(
        "a window of {} ms: its size is expected to be positive and at most 100,000 days",
        size.count()));
  }
  return {size};
}

}  // namespace millrace
