#include "millrace/runtime/coordinator/checkpoint_failures.hpp"

#include <algorithm>

namespace millrace {

bool CheckpointFailures::failed(CheckpointId id) {
  if (id <= newest_) return false;
  newest_ = id;
  if (in_a_row_ < tolerable_) {
    ++in_a_row_;
    return false;
  }
  in_a_row_ = 0;
  return true;
}

void CheckpointFailures::completed(CheckpointId id) {
  newest_ = std::max(newest_, id);
  in_a_row_ = 0;
}

}  // namespace millrace
