#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace millrace {

/// A point on a node's monotonic clock, in nanoseconds since an arbitrary start.
///
/// Only differences and order mean anything. Instants of two nodes are not
/// comparable, and none survives a restart. Event time is another thing
/// altogether: see EventTime.
struct Instant {
  std::int64_t ns = 0;

  static constexpr Instant never() { return {std::numeric_limits<std::int64_t>::max()}; }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant at, std::chrono::nanoseconds span) {
    return at.ns > std::numeric_limits<std::int64_t>::max() - span.count()
               ? never()
               : Instant{at.ns + span.count()};
  }
  friend constexpr std::chrono::nanoseconds operator-(Instant later, Instant earlier) {
    return std::chrono::nanoseconds{later.ns - earlier.ns};
  }
};

}  // namespace millrace
