#pragma once

#include <chrono>
#include <cstdint>

#include "millrace/env/env.hpp"
#include "millrace/runtime/checkpoint_options.hpp"
#include "millrace/runtime/control/timing.hpp"
#include "millrace/runtime/job.hpp"

namespace millrace {

struct CoordinatorOptions {
  std::uint32_t parallelism = 1;
  CheckpointOptions checkpoint;
  RestartOptions restart;
  std::chrono::nanoseconds lease = std::chrono::seconds(2);
  /// Something else sees to it that there is one candidate: a lock of the operating system.
  bool is_only_candidate = false;
  bool fresh = false;  ///< Begin a new lineage, whatever there was.
  bool adopt = false;  ///< Take over a sink that holds rows of another lineage.
  ControlTiming timing;
  std::chrono::nanoseconds assembly = std::chrono::seconds(1);   ///< Wait so long for all workers.
  std::chrono::nanoseconds recovery = std::chrono::seconds(30);  ///< A recovery may take so long.
};

/// How a coordinator's part in a job ended.
enum class JobEnd : std::uint8_t {
  finished,          ///< All input was read, and all rows are visible.
  already_finished,  ///< It was, before this call.
  stopped,           ///< Somebody asked for it; everything up to a last checkpoint is visible.
  ownership_lost,    ///< Another coordinator owns the job now.
};

/// The body of a coordinator's node: waits for its turn, takes the job over, and leads it to its
/// end through any number of failures (PROTOCOL 1 to 5).
///
/// Throws UsageError, JobFailed, Refused: what no restart can repair. The job stays as it was at
/// its last completed checkpoint.
JobEnd run_coordinator(Env& env, const Job& job, const CoordinatorOptions& options);

}  // namespace millrace
