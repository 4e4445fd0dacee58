#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "millrace/env/identity.hpp"
#include "millrace/env/instant.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/state/checkpoint.hpp"

namespace millrace {

/// What an acknowledgement turned out to be.
enum class AckOutcome : std::uint8_t {
  accepted,
  duplicate,     ///< This task has acknowledged already.
  stale,         ///< Of another checkpoint: one that was given up, or of another term.
  unknown_task,  ///< Nobody asked this task.
};

/// A checkpoint under way: counts acknowledgements, per task and not by number, and turns into a
/// manifest when all are in. Pure.
class PendingCheckpoint {
 public:
  /// `watermarks_may_differ`: subtasks of an operator need not agree on it, because inputs of the
  /// job fall idle, and they hear of that in different orders (WM-4).
  PendingCheckpoint(CheckpointId id, std::set<std::string> tasks, Instant deadline,
                    bool watermarks_may_differ = false)
      : id_(id),
        waited_for_(std::move(tasks)),
        deadline_(deadline),
        watermarks_may_differ_(watermarks_may_differ) {}

  CheckpointId id() const { return id_; }
  /// When to give it up.
  Instant deadline() const { return deadline_; }

  AckOutcome acknowledge(Acknowledgement acknowledgement);
  bool is_complete() const { return waited_for_.size() == acknowledged_.size(); }
  /// Who has not acknowledged, for people.
  std::vector<std::string> missing() const;

  /// The manifest of this checkpoint, which follows `previous`. Only when it is complete.
  Manifest manifest_after(const Manifest& previous, std::uint32_t parallelism) const;

 private:
  CheckpointId id_;
  std::set<std::string> waited_for_;
  Instant deadline_;
  bool watermarks_may_differ_;
  std::map<std::string, Acknowledgement> acknowledged_;  ///< By task, in a fixed order.
};

}  // namespace millrace
