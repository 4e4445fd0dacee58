#pragma once

#include <cstdint>
#include <vector>

#include "millrace/env/identity.hpp"

namespace millrace {

/// What a task does after a barrier, in this order.
struct GateAction {
  bool release_all = false;  ///< An older alignment has ended without a snapshot: open its lanes.
  bool hold = false;         ///< Take nothing more from the barrier's lane.
  bool begins = false;       ///< It is the first barrier of its checkpoint.
  bool complete = false;     ///< It was the last: take the snapshot, then open all lanes.
  friend bool operator==(const GateAction&, const GateAction&) = default;
};

/// Aligns the barriers of a task's lanes (SEMANTICS 1.1). Pure: facts in, action out.
///
/// A lane that has delivered its barrier is held until all have, so that nothing from behind a
/// barrier gets into the snapshot before it. The snapshot is taken first, and then the lanes are
/// opened (BA-4).
class Gate {
 public:
  explicit Gate(int lanes) : arrived_(static_cast<std::size_t>(lanes), false) {}

  /// A barrier has come on `lane`.
  GateAction barrier(int lane, CheckpointId id);

  /// The coordinator gave up `id`. Returns whether lanes are held for it, to be opened now.
  bool abort(CheckpointId id);

  /// Whether an alignment is under way.
  bool is_aligning() const { return count_ != 0; }

 private:
  void forget();

  CheckpointId current_;       ///< The newest that was seen, completed or given up.
  std::vector<bool> arrived_;  ///< A set and not a count: a lane counts once (BA-5).
  std::size_t count_ = 0;
};

}  // namespace millrace
