#pragma once

#include <memory>

#include "millrace/properties/case.hpp"
#include "millrace/properties/outcome.hpp"
#include "millrace/properties/subject.hpp"
#include "millrace/sim/choice.hpp"
#include "millrace/sim/stack_pool.hpp"
#include "millrace/sim/trace.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::properties {

/// What one wants to see of a run besides its outcome.
struct Observers {
  std::function<void(const sim::TraceEvent&)> on_event;
  std::function<void(Instant, std::string_view node, std::string_view sentence)> on_note;
  std::function<void(Instant, std::string_view node, const sim::LandmarkEvent&)> on_landmark;
  /// Called once, at the end: every draw that was not 0. Makes a run slower, and no other.
  std::function<void(const std::vector<sim::Drawn>&)> on_draws;
  /// Called at the end of a job that finished: what a reader of each table sees, in their order.
  std::function<void(std::size_t table, std::vector<OwnedRow> rows)> on_rows;
  /// Called once, at the end: which effects without a key a job in C++ asked for.
  std::function<void(const EffectCounts&)> on_effects;
};

/// Runs a case: build, storm, calm, judge.
///
/// The same processor that runs for real is deployed on a simulated cluster and led through the
/// case's plan. When everything of the plan has happened and is healed, the job must get to its
/// end, with a checkpoint at least every `liveness_bound`; what readers see is judged all the time.
Outcome run_case(const Case& scenario, const Subject& subject, sim::StackPool& stacks,
                 const Observers& observers = {});

/// The longest that a healthy job with these options may be without progress, in virtual time.
std::chrono::nanoseconds liveness_bound(const CheckpointOptions& checkpoint,
                                        const RestartOptions& restart);

}  // namespace millrace::properties
