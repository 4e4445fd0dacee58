#include "millrace/runtime/time/valve.hpp"

#include <algorithm>

namespace millrace {

std::optional<EventTime> Valve::advance(int lane, EventTime watermark) {
  EventTime& known = lanes_[static_cast<std::size_t>(lane)];
  if (watermark <= known) return std::nullopt;  // A watermark never goes back.
  known = watermark;
  const EventTime merged = *std::min_element(lanes_.begin(), lanes_.end());
  if (merged <= merged_) return std::nullopt;
  merged_ = merged;
  return merged;
}

}  // namespace millrace
