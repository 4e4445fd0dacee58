#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "millrace/env/identity.hpp"
#include "millrace/properties/outcome.hpp"

#include "manifest_witness.hpp"

namespace millrace::properties {

/// Judges what is left in a job's object store (PROTOCOL 8, leftovers): after the sweep of a
/// takeover nothing of what was there at the takeover, but for what the restored manifest reaches;
/// and of a finished job what its last manifest reaches, all of what that keeps, and nothing that
/// somebody would have to clean up. Rows are not reached any more once all are visible, as they are
/// at the end.
///
/// Not held against it: what a zombie of an earlier term has written since the last takeover, which
/// the sweep of that takeover could not find; and what came back after the last sweep, because the
/// store lost power before it was durably gone.
class LeftoversJudge {
 public:
  /// A manifest was written.
  void claimed(const Witness& witness) { manifests_[witness.id] = witness; }

  /// A takeover, with these objects in the store, by a head that names checkpoint `restored`. Of
  /// several the one of the latest term counts.
  void took_over(Term term, CheckpointId restored, std::set<std::string> names);
  /// The sweep of what terms before `term` left says that it is done, with these objects there.
  /// That of a job at its end names the term behind its own.
  void swept(Term term, const std::set<std::string>& names);
  /// These objects are there now.
  void saw(const std::set<std::string>& names);

  /// Long after the end this task of the job still runs: node and role.
  void still_runs(std::string task) { tasks_.push_back(std::move(task)); }

  /// The job was finished by a head that names checkpoint `last`, and these objects were there.
  std::optional<Breach> judge(CheckpointId last, const std::set<std::string>& names) const;

 private:
  bool belongs(const std::string& name, CheckpointId last) const;
  bool is_state_of(CheckpointId id, const std::string& name) const;
  bool is_staged_by(CheckpointId id, const std::string& name) const;
  bool is_kept_by(CheckpointId id, const std::string& name) const;

  std::map<CheckpointId, Witness> manifests_;
  Term term_;
  CheckpointId restored_;
  bool is_swept_ = false;              ///< Behind the last takeover.
  std::optional<Breach> after_sweep_;  ///< The first.
  std::set<std::string> names_at_takeover_;
  std::vector<std::string> tasks_;
  std::optional<std::set<std::string>> after_last_sweep_;
};

}  // namespace millrace::properties
