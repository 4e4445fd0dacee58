#pragma once

#include <string>
#include <vector>

#include "millrace/env/cells.hpp"
#include "millrace/runtime/flow/stage.hpp"

namespace millrace {

/// What a writer of a staged sink keeps (PROTOCOL 2): the rows since the last barrier, and the
/// names of all that it staged and does not know to be published.
///
/// A name leaves the list only when its rows are known to be visible. An aborted checkpoint leaves
/// its rows on the list, and they ride with the next (NT-4).
class Staging {
 public:
  Staging(const StageContext& context, std::string sink);

  CellWriter& cells() { return cells_; }

  /// Freezes the rows since the last call, gives them their name, and adds rows and names to
  /// `snapshot`. An interval without rows stages nothing.
  void save(Snapshot& snapshot);
  /// Everything up to `id` is visible.
  void published(CheckpointId id);

 private:
  Env env_;
  std::string sink_;
  Subtask at_;
  CellWriter cells_;
  std::vector<StagedObject> unpublished_;
};

}  // namespace millrace
