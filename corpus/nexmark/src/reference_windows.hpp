#pragma once

#include <vector>

#include "millrace/nexmark/queries.hpp"

namespace millrace::nexmark::reference {

// Windows as their ends. Times before 1970 are in windows too.

/// The end of the window of `size` that holds `time`, of those end to end from the epoch.
inline EventTime tumbling_end(EventTime time, Duration size = window_size) {
  std::int64_t into = time.ms % size.count();
  if (into < 0) into += size.count();
  return {time.ms - into + size.count()};
}

/// The ends of all windows of `window_size`, one every `window_slide`, that hold `time`.
inline std::vector<EventTime> sliding_ends(EventTime time) {
  std::vector<EventTime> ends;
  for (EventTime end = tumbling_end(time, window_slide); end - window_size <= time;
       end = end + window_slide) {
    ends.push_back(end);
  }
  return ends;
}

}  // namespace millrace::nexmark::reference
