#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/env/sink_table.hpp"
#include "millrace/faults/fault.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/sim/draws.hpp"

namespace millrace::properties {

/// The two halves of the way from pre-commit to commit.
enum class CommitHalf : std::uint8_t {
  staged_decided,     ///< Rows are durable, and the head does not name their checkpoint yet.
  decided_published,  ///< It does, and the rows are not known to be visible.
};
inline constexpr CommitHalf commit_halves[] = {CommitHalf::staged_decided,
                                               CommitHalf::decided_published};
std::string_view to_text(CommitHalf half);

/// Who is struck there.
enum class CommitVictim : std::uint8_t {
  writer,       ///< A node that writes rows.
  committer,    ///< The node that makes them visible.
  coordinator,  ///< The one that owns the job.
  worker,       ///< Any.
  database,
  store,
  two,       ///< Two of these, one soon after the other.
  zombie,    ///< The writer, committer or owner sleeps, and wakes when others have gone on.
  recovery,  ///< One of these, and whoever gets somewhere in the recovery from it.
};
inline constexpr CommitVictim commit_victims[] = {
    CommitVictim::writer, CommitVictim::committer, CommitVictim::coordinator,
    CommitVictim::worker, CommitVictim::database,  CommitVictim::store,
    CommitVictim::two,    CommitVictim::zombie,    CommitVictim::recovery};
std::string_view to_text(CommitVictim victim);

/// A plan that always strikes between pre-commit and commit of some checkpoint, where exactly-once
/// is won or lost. Its first fault is the one that does.
faults::Plan commit_plan(CommitHalf half, CommitVictim victim, SinkMode mode,
                         const ClusterShape& cluster, sim::Draws& draws);

}  // namespace millrace::properties
