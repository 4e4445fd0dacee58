#pragma once

#include <chrono>
#include <memory>

#include "millrace/env/channel.hpp"
#include "millrace/env/env.hpp"
#include "millrace/runtime/sink/committer.hpp"
#include "millrace/runtime/state/snapshot.hpp"

namespace millrace {

/// How many snapshots of a task may wait to be uploaded. One checkpoint is pending at a time, so
/// more than one waits only after one was given up.
inline constexpr std::size_t upload_room = 4;

using Snapshots = Channel<std::unique_ptr<Snapshot>>;

/// The task beside a task that makes its snapshots durable, in order, while the task itself goes
/// on: staged rows first, then state; then it acknowledges. Runs until it is cancelled.
///
/// Everything that an acknowledgement names is durable when it is sent (PROTOCOL 1.7), and so is
/// everything of earlier checkpoints that it names. A checkpoint that the store fails, or does not
/// take in `patience`, is declined; its rows are stored before anything of a later one.
/// Throws WorldError: what has nothing to do with the store.
void run_uploader(Env& env, Snapshots& snapshots, std::chrono::nanoseconds patience,
                  const Report& report);

}  // namespace millrace
