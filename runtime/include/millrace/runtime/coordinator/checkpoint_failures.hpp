#pragma once

#include <cstdint>

#include "millrace/env/identity.hpp"
#include "millrace/runtime/checkpoint_options.hpp"

namespace millrace {

/// Counts checkpoints of a term that failed in a row: whatever keeps them from being completed may
/// be something that only a restart repairs. Pure but for what it remembers.
class CheckpointFailures {
 public:
  explicit CheckpointFailures(const CheckpointOptions& options)
      : tolerable_(options.tolerable_failures) {}

  /// `id` is given up. Returns whether that is one more in a row than is tolerable; then counting
  /// begins anew. An id counts once, and one that is not above all completed ones never.
  bool failed(CheckpointId id);
  void completed(CheckpointId id);

 private:
  std::uint32_t tolerable_;
  std::uint32_t in_a_row_ = 0;
  CheckpointId newest_;  ///< That was counted or completed.
};

}  // namespace millrace
