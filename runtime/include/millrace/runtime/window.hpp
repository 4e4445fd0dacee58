#pragma once

#include <compare>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// The span of event time that a result is about: `start` is in it, `end` is not.
struct Window {
  EventTime start;
  EventTime end;
  friend constexpr auto operator<=>(Window, Window) = default;
};

/// One key's result for one window. Its event time is the last instant of the window.
template <class K, class R>
struct Windowed {
  Window window;
  K key;
  R value;
};

/// Windows of one size, end to end, aligned to the epoch.
struct Tumbling {
  Duration size;
};

/// Throws UsageError: `size` is not positive, or more than 100,000 days.
Tumbling tumbling(Duration size);

/// The window of `size` that holds `time`, also before 1970.
constexpr Window window_at(EventTime time, Duration size) {
  const std::int64_t length = size.count();
  const std::int64_t into = (time.ms % length + length) % length;
  return {{time.ms - into}, {time.ms - into + length}};
}

}  // namespace millrace
