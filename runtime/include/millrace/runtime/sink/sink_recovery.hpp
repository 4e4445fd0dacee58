#pragma once

#include <string>
#include <variant>
#include <vector>

#include "millrace/env/error.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/state/checkpoint.hpp"

namespace millrace {

/// What a takeover found at a sink. Gathered first, judged after.
struct SinkRecoveryFacts {
  CheckpointId restored;             ///< The manifest that the head names.
  Lineage lineage;                   ///< Of the head.
  Fenced fenced;                     ///< What fencing the sink said.
  std::vector<StagedObject> listed;  ///< What the manifest says was staged for this sink.
  std::vector<std::string> missing;  ///< Those of them that the store does not hold.
};

/// Make these visible; they are sorted by checkpoint. Perhaps none.
struct PublishListed {
  std::vector<StagedObject> objects;
  friend bool operator==(const PublishListed&, const PublishListed&) = default;
};
/// Do not go on.
struct RefuseSink {
  Refusal why;
  std::string what;  ///< The detail that a person needs: which marker, which name.
  friend bool operator==(const RefuseSink&, const RefuseSink&) = default;
};
/// Somebody of a later term has the sink: this takeover is over.
struct SinkSuperseded {
  friend bool operator==(const SinkSuperseded&, const SinkSuperseded&) = default;
};
using SinkRecovery = std::variant<PublishListed, RefuseSink, SinkSuperseded>;

/// Decides how a sink comes back (PROTOCOL 3.5, 3.6). Pure: no clock, no storage, no chance.
SinkRecovery decide_sink_recovery(const SinkRecoveryFacts& found);

/// The listed objects above a marker, sorted by checkpoint.
std::vector<StagedObject> above(CheckpointId marker, std::vector<StagedObject> listed);

}  // namespace millrace
