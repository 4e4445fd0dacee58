#pragma once

#include "millrace/env/event_time.hpp"

namespace millrace {

/// The first row of each key: others within `keep_for` behind the event time of the one that was
/// let out, that instant included, are dropped, and so are rows before it. A row behind that is the
/// first again.
///
/// "First" is in the order of arrival. A late row of a key that is not remembered may be a
/// repetition of one that is forgotten: it is counted as late and dropped.
template <class T>
struct Dedup {
  struct State {
    EventTime first;
  };
  using Output = T;

  Duration keep_for;

  template <class Context, class Emit>
  void on_record(const T& row, Context& here, Emit& out) const {
    EventTime& first = here.state().first;
    const bool is_known = first != EventTime::min();
    if (is_known && here.time() <= first + keep_for) return;
    if (!is_known && here.time() <= here.watermark()) {
      here.count_late();
      here.forget();
      return;
    }
    first = here.time();
    here.wake(first + keep_for);
    out(row);
  }
  template <class Context, class Emit>
  void on_alarm(Context& here, Emit&) const {
    here.forget();
  }
};

}  // namespace millrace
