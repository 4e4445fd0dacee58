#pragma once

#include <optional>
#include <vector>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// Merges the watermarks of a task's lanes: the smallest of the newest of each (WM-2). Pure.
class Valve {
 public:
  explicit Valve(int lanes) : lanes_(static_cast<std::size_t>(lanes), EventTime::min()) {}

  /// A watermark has come on `lane`. Returns the merged one if it has risen.
  std::optional<EventTime> advance(int lane, EventTime watermark);

 private:
  std::vector<EventTime> lanes_;
  EventTime merged_ = EventTime::min();
};

}  // namespace millrace
