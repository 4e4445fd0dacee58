#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// The span of event time that a result is about: `start` is in it, `end` is not.
struct Window {
  EventTime start;
  EventTime end;
  friend constexpr auto operator<=>(Window, Window) = default;
};

/// The last instant that is in `window`. It has ended when the watermark reaches that (WL-1, WM-1).
constexpr EventTime last_instant(Window window) { return {window.end.ms - 1}; }

/// One key's result for one window. Its event time is the last instant of the window.
///
/// `pane` counts the results of the same key and window: 0 is the first, which for most windows is
/// the one and only; early firing and rows that come late, but are allowed to, make others with 1,
/// 2 and so on. A later one replaces those before it, unless the window purges: then it holds what
/// came since. A session that grows is another window, and its results are counted anew.
template <class K, class R>
struct Windowed {
  Window window;
  K key;
  R value;
  std::int64_t pane = 0;
};

/// The largest time at or before `time` that is `phase` behind a multiple of `step`; also before
/// 1970.
constexpr EventTime floor_to(EventTime time, Duration step, Duration phase) {
  const std::int64_t into = (time.ms - phase.count()) % step.count();
  return {time.ms - (into < 0 ? into + step.count() : into)};
}

/// `time + span`, or the largest time if there is none that large: a moment that never comes.
constexpr EventTime saturated(EventTime time, Duration span) {
  if (time.ms > 0 && span.count() > std::numeric_limits<std::int64_t>::max() - time.ms) {
    return EventTime::max();
  }
  return time + span;
}

/// Windows of one size, one every `slide`: those that begin `offset` behind a multiple of it.
///
/// A row belongs to size / slide of them. It is folded once, whatever that number is, into a *pane*
/// of the greatest common divisor of both. So a slide that divides the size costs least: windows of
/// 10 s every 3,001 ms are made of ten thousand panes.
struct Sliding {
  Duration size;
  Duration slide;
  Duration offset{0};  ///< At least 0 and less than `slide`.

  constexpr Duration pane() const { return Duration{std::gcd(size.count(), slide.count())}; }
  /// The pane that `time` is in begins here.
  constexpr EventTime pane_start(EventTime time) const { return floor_to(time, pane(), offset); }
  /// The first and the last window that hold `time`.
  constexpr Window first_window(EventTime time) const {
    const EventTime end = floor_to(time, slide, offset + size % slide) + slide;
    return {end - size, end};
  }
  constexpr Window last_window(EventTime time) const {
    const EventTime start = floor_to(time, slide, offset);
    return {start, start + size};
  }
  constexpr Window next(Window window) const { return {window.start + slide, window.end + slide}; }
};

/// Windows of one size, end to end, that begin `offset` behind a multiple of it: days of a time
/// zone have one. A negative one counts from the other side.
///
/// Throws UsageError: `size` is not positive, or more than 100,000 days.
Sliding tumbling(Duration size, Duration offset = Duration{0});

/// Windows that overlap. Throws UsageError: as `tumbling`, and unless 0 < `slide` <= `size`.
Sliding sliding(Duration size, Duration slide, Duration offset = Duration{0});

/// Windows per key that end when `gap` passes without a row. Rows that are exactly `gap` apart are
/// in one (WL-8).
struct Sessions {
  Duration gap;
};

/// Throws UsageError: `gap` is not positive, or more than 100,000 days.
Sessions sessions(Duration gap);

/// One window for all event times there are. It ends with the input; what is to come out before
/// needs a trigger.
struct Global {
  static constexpr Window window() {
    return {earliest_event_time, latest_event_time + Duration{1}};
  }
  static constexpr Window first_window(EventTime) { return window(); }
  static constexpr Window last_window(EventTime) { return window(); }
  static constexpr Window next(Window) { return window(); }
};
constexpr Global global() { return {}; }

template <class W>
concept WindowKind =
    std::same_as<W, Sliding> || std::same_as<W, Sessions> || std::same_as<W, Global>;

/// What an operator's state depends on, for people: `sliding 10000 ms every 2000 ms`.
std::string describe(const Sliding& windows);
std::string describe(const Sessions& windows);
std::string describe(const Global& windows);

/// Throws UsageError: allowed lateness is negative.
void expect_lateness(Duration lateness);

/// Which results of a window leave the task that holds them.
///
/// Choosing before rows are made is worth much: 60,000 keys in windows of ten seconds every 200 ms
/// make three results for each row that comes in.
struct KeepAll {};
/// The largest among the keys of this subtask; ties stay. The largest of all needs a second step
/// without keys.
struct KeepLargest {};

}  // namespace millrace
