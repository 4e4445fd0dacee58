#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/operators/timed_rows.hpp"

namespace millrace {

/// Pairs of rows of one key that lie close together: `f(left, right)` for each pair with
///
///     left.time - before <= right.time <= left.time + after
///
/// Both ends are in. Every pair is let out once, when the second of the two has come, at the later
/// of their times. A row at or before the watermark is late: counted and dropped, because rows that
/// it would meet may be gone.
///
/// A row waits until the watermark has reached the last time that it could meet. Rows of a key that
/// nothing more comes for are dropped together, when the last of them is.
template <class L, class R, class F>
struct IntervalJoin {
  struct State {
    TimedRows<L> left;
    TimedRows<R> right;
  };
  using Output = std::remove_cvref_t<std::invoke_result_t<const F&, const L&, const R&>>;

  Duration before;
  Duration after;
  F f;

  template <class Context, class Emit>
  void on_left(const L& left, Context& here, Emit& out) const {
    if (here.time() <= here.watermark()) return here.count_late(), forget_if_new(here);
    State& waiting = here.state();
    for (const auto& right : waiting.right.between(here.time() - before, here.time() + after)) {
      out.at(std::max(here.time(), right.time), std::invoke(f, left, right.value));
    }
    wait(waiting.left, left, after, here);
  }
  template <class Context, class Emit>
  void on_right(const R& right, Context& here, Emit& out) const {
    if (here.time() <= here.watermark()) return here.count_late(), forget_if_new(here);
    State& waiting = here.state();
    for (const auto& left : waiting.left.between(here.time() - after, here.time() + before)) {
      out.at(std::max(here.time(), left.time), std::invoke(f, left.value, right));
    }
    wait(waiting.right, right, before, here);
  }
  /// None of the key's rows can meet another.
  template <class Context, class Emit>
  void on_alarm(Context& here, Emit&) const {
    here.forget();
  }

 private:
  template <class T, class Context>
  static void wait(TimedRows<T>& rows, const T& row, Duration reach, Context& here) {
    const EventTime last = here.time() + reach;
    if (last <= here.watermark()) return forget_if_new(here);
    if (here.watermark() > EventTime::min()) rows.tidy_before(here.watermark() - reach);
    rows.add(here.time(), row);
    if (here.alarm() == EventTime::max() || here.alarm() < last) here.wake(last);
  }
  template <class Context>
  static void forget_if_new(Context& here) {
    if (here.state().left.empty() && here.state().right.empty()) here.forget();
  }
};

}  // namespace millrace
