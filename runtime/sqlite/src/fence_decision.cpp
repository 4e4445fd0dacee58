#include "millrace/sqlite/fence_decision.hpp"

namespace millrace {
namespace {

Fenced decide_without_marker(const FenceFacts& found) {
  const FenceRequest& request = found.request;
  // A sink is fenced before the first record is read, so a missing marker on a job that has a past
  // is a sink that somebody emptied. Going on would pretend that its rows are still there.
  if (!request.from_genesis) return {FenceOutcome::absent, std::nullopt};
  if (found.has_rows && !request.adopt) return {FenceOutcome::occupied, std::nullopt};
  return {FenceOutcome::fenced, Marker{request.lineage, request.term, CheckpointId::genesis()}};
}

}  // namespace

Fenced decide_fence(const FenceFacts& found) {
  if (!found.marker) return decide_without_marker(found);
  const FenceRequest& request = found.request;
  Marker marker = *found.marker;
  const bool is_foreign = marker.lineage != request.lineage;
  if (is_foreign && !request.adopt) return {FenceOutcome::foreign, marker};
  // Terms are compared within a lineage. Whoever writes for the adopted one is shut out by the
  // lineage itself, whatever its term.
  if (!is_foreign && marker.fence_term > request.term) return {FenceOutcome::superseded, marker};

  // What another lineage published says nothing about what this one has: with its ids kept, rows
  // that this job has staged would pass for published.
  if (is_foreign) marker.published = CheckpointId::genesis();
  marker.lineage = request.lineage;
  marker.fence_term = request.term;
  return {FenceOutcome::fenced, marker};
}

}  // namespace millrace
