#include "millrace/runtime/sink/sink_recovery.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/env/invariant.hpp"

namespace millrace {

std::vector<StagedObject> above(CheckpointId marker, std::vector<StagedObject> listed) {
  std::erase_if(listed, [marker](const StagedObject& object) { return object.id <= marker; });
  std::stable_sort(listed.begin(), listed.end(), [](const StagedObject& a, const StagedObject& b) {
    return a.id != b.id ? a.id < b.id : a.subtask < b.subtask;
  });
  return listed;
}

SinkRecovery decide_sink_recovery(const SinkRecoveryFacts& found) {
  switch (found.fenced.outcome) {
    case FenceOutcome::superseded: return SinkSuperseded{};
    case FenceOutcome::absent:
      // Fenced before the first record is read, so a missing marker on a job that has a past is a
      // sink that somebody emptied. Publishing into it would pretend that nothing was lost.
      return RefuseSink{Refusal::marker_missing,
                        fmt::format("the job is at checkpoint {}", to_text(found.restored))};
    case FenceOutcome::foreign:
      return RefuseSink{Refusal::sink_foreign,
                        fmt::format("the state is of lineage {}, the sink of {}",
                                    to_text(found.lineage), to_text(found.fenced.marker->lineage))};
    case FenceOutcome::occupied: return RefuseSink{Refusal::sink_occupied, "it has rows already"};
    case FenceOutcome::fenced: break;
  }
  invariant(found.fenced.marker.has_value(), "a fenced sink has a marker");
  const CheckpointId marker = found.fenced.marker->published;
  if (marker > found.restored) {
    return RefuseSink{Refusal::sink_ahead,
                      fmt::format("the sink shows checkpoint {}, the state is at {}",
                                  to_text(marker), to_text(found.restored))};
  }
  PublishListed publish{above(marker, found.listed)};
  for (const StagedObject& object : publish.objects) {
    if (std::find(found.missing.begin(), found.missing.end(), object.name) != found.missing.end()) {
      return RefuseSink{Refusal::staged_rows_missing,
                        fmt::format("{} with {} rows", object.name, object.rows)};
    }
  }
  return publish;
}

}  // namespace millrace
