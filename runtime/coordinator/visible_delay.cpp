#include "millrace/runtime/coordinator/visible_delay.hpp"

#include <algorithm>

namespace millrace {

void VisibleDelay::decided(CheckpointId id) {
  waiting_.push_back({id, reading_since_});
  reading_since_ = triggered_;
}

void VisibleDelay::published(CheckpointId visible, Instant now) {
  while (!waiting_.empty() && waiting_.front().id <= visible) {
    longest_ = std::max(longest_, now - waiting_.front().reading_since);
    waiting_.pop_front();
  }
}

}  // namespace millrace
