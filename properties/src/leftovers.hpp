#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/identity.hpp"
#include "millrace/properties/outcome.hpp"

#include "manifest_witness.hpp"

namespace millrace::properties {

/// Judges what a finished job leaves in its object store (PROTOCOL 8, leftovers): what its last
/// manifest reaches, and nothing that somebody would have to clean up. Rows are not reached any
/// more once all are visible, as they are at the end.
///
/// Not held against it: what a zombie of an earlier term has written since the last takeover, which
/// the sweep of that takeover could not find; and what was removed after the last checkpoint and
/// came back, because the store lost power before it was durably gone.
class LeftoversJudge {
 public:
  /// A manifest was written.
  void claimed(const Witness& witness) { states_[witness.id] = witness.states; }

  /// A takeover, with these objects in the store. Later ones count instead of earlier ones.
  void took_over(Term term, std::set<std::string> names);
  /// A checkpoint was decided. What has gone before may have come back, but not to stay.
  void decided(const std::set<std::string>& names);
  /// These objects are there now.
  void saw(const std::set<std::string>& names);

  /// Long after the end this task of the job still runs.
  void still_runs(std::string_view node, std::string_view role) {
    tasks_.push_back(std::string(node) + ": " + std::string(role));
  }

  /// The job was finished by a head that names checkpoint `last`, and these objects were there.
  std::optional<Breach> judge(CheckpointId last, const std::set<std::string>& names) const;

 private:
  bool belongs(const std::string& name, CheckpointId last) const;

  std::map<CheckpointId, std::vector<std::string>> states_;
  Term term_;
  std::set<std::string> names_at_takeover_;
  std::vector<std::string> tasks_;
  std::set<std::string> seen_;  ///< Since the last checkpoint.
  std::set<std::string> gone_;  ///< Seen since then, and later not.
};

}  // namespace millrace::properties
