#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace millrace {

/// A span of event time. Literals such as `10s` and `200ms` convert to it.
using Duration = std::chrono::milliseconds;

/// A point in event time: what the record says about when it happened, in milliseconds since the
/// epoch (UTC). May be negative.
///
/// Has nothing to do with any clock of ours; those deal in Instant.
struct EventTime {
  std::int64_t ms = std::numeric_limits<std::int64_t>::min();

  static constexpr EventTime min() { return {}; }
  static constexpr EventTime max() { return {std::numeric_limits<std::int64_t>::max()}; }

  friend constexpr auto operator<=>(EventTime, EventTime) = default;
  friend constexpr EventTime operator+(EventTime t, Duration d) { return {t.ms + d.count()}; }
  friend constexpr EventTime operator-(EventTime t, Duration d) { return {t.ms - d.count()}; }
  friend constexpr Duration operator-(EventTime a, EventTime b) { return Duration{a.ms - b.ms}; }
};

/// The event times a record may carry: the years 1 to 9999. With windows and disorder bounded by
/// a hundred thousand days each, no sum of such times can overflow.
inline constexpr EventTime earliest_event_time{-62'135'596'800'000};
inline constexpr EventTime latest_event_time{253'402'300'799'999};

/// How far behind the newest record of its partition a record may be and still be on time.
struct Disorder {
  Duration at_most{0};
  friend bool operator==(Disorder, Disorder) = default;
};
constexpr Disorder disorder(Duration at_most) { return {at_most}; }

}  // namespace millrace
