#pragma once

#include <cstdint>
#include <optional>

#include "millrace/env/env.hpp"
#include "millrace/runtime/control/timing.hpp"
#include "millrace/runtime/job.hpp"

namespace millrace {

struct WorkerOptions {
  ControlTiming timing;
  std::optional<std::uint64_t> records_per_second;  ///< For the whole job; nothing: no limit.
};

/// The body of a worker's node: joins every coordinator that there is, runs what their owner
/// deploys, and tells it what becomes of that. Runs until it is cancelled.
///
/// What an owner of an older term says is dropped; a newer term ends whatever an older one runs
/// here. Tasks whose owner is gone are ended too: nobody could ever commit what they do.
void run_worker(Env& env, const Job& job, const WorkerOptions& options);

}  // namespace millrace
