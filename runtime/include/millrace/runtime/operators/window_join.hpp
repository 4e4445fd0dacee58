#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/operators/timed_rows.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// Pairs of rows of one key that lie in the same window: `f(left, right)`, or `f(left, right,
/// window)`, for each pair and each window that holds both, when the watermark reaches the last
/// instant of the window, which is the event time of the pair.
///
/// Pairs leave by window, then by key (`key_less`), then by left row, then by right row; rows by
/// event time, and at one time as they came. A row all of whose windows have ended is late: counted
/// and dropped.
template <class L, class R, class F>
struct WindowJoin {
  struct State {
    TimedRows<L> left;
    TimedRows<R> right;
  };

  Duration size;
  Duration slide;
  F f;

 private:
  static decltype(auto) joined(const F& f, const L& left, const R& right, Window window) {
    if constexpr (std::is_invocable_v<const F&, const L&, const R&, Window>) {
      return std::invoke(f, left, right, window);
    } else {
      return std::invoke(f, left, right);
    }
  }

 public:
  using Output = std::remove_cvref_t<decltype(joined(
      std::declval<const F&>(), std::declval<const L&>(), std::declval<const R&>(), Window{}))>;

  template <class Context, class Emit>
  void on_left(const L& left, Context& here, Emit&) const {
    take(here.state().left, left, here);
  }
  template <class Context, class Emit>
  void on_right(const R& right, Context& here, Emit&) const {
    take(here.state().right, right, here);
  }
  /// A window of the key ends with this instant.
  template <class Context, class Emit>
  void on_alarm(Context& here, Emit& out) const {
    State& waiting = here.state();
    const EventTime last = here.time();
    const Window window{last + Duration{1} - size, last + Duration{1}};
    const auto rights = waiting.right.between(window.start, last);
    for (const auto& left : waiting.left.between(window.start, last)) {
      for (const auto& right : rights) out(joined(f, left.value, right.value, window));
    }
    // The next window begins a slide later, and no other needs what lies before it.
    waiting.left.drop_before(window.start + slide);
    waiting.right.drop_before(window.start + slide);
    if (waiting.left.empty() && waiting.right.empty()) return here.forget();
    EventTime first = EventTime::max();
    if (!waiting.left.empty()) first = std::min(first, waiting.left.first());
    if (!waiting.right.empty()) first = std::min(first, waiting.right.first());
    here.wake(next_last(first, last));
  }

 private:
  template <class T, class Context>
  void take(TimedRows<T>& rows, const T& row, Context& here) const {
    const EventTime time = here.time();
    const EventTime start = floor_to(time, slide, Duration{0});  // Of the last window that holds it.
    const bool is_in_none = start + size <= time;          // Windows may leave gaps.
    const bool is_late = start + size - Duration{1} <= here.watermark();
    if (is_late || is_in_none) {
      if (!is_in_none) here.count_late();
      if (here.state().left.empty() && here.state().right.empty()) here.forget();
      return;
    }
    rows.add(time, row);
    here.wake(std::min(here.alarm(), next_last(time, here.watermark())));
  }

  /// The last instant of the first window that holds `time` and has not ended at `watermark`.
  EventTime next_last(EventTime time, EventTime watermark) const {
    const EventTime first = floor_to(time - size, slide, Duration{0}) + slide;
    const EventTime last = first + size - Duration{1};
    if (last > watermark) return last;
    const std::int64_t passed = (watermark - last) / slide + 1;
    return last + slide * passed;
  }
};

}  // namespace millrace
