#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/identity.hpp"
#include "millrace/runtime/control/failure.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/state/checkpoint.hpp"

namespace millrace {

// What the coordinator and the workers tell each other. Every message but the first holds its
// speaker's term, and who hears it drops what is not of the term it knows (PROTOCOL 1.4).

// From a worker.

/// The first message: who is there.
struct Join {
  std::string worker;
};
/// A task has its state back and runs.
struct TaskRunning {
  Term term;
  std::string task;
};
/// A task has ended before the job.
struct TaskFailed {
  Term term;
  std::string task;
  Failure failure;
};
struct Acknowledged {
  Acknowledgement acknowledgement;
};
/// Every partition of a source's subtask was read to its end.
struct InputEnded {
  Term term;
  std::string task;
};
/// A sink is fenced and shows all that the restored manifest lists.
struct SinkRecovered {
  Term term;
  std::string sink;
};
/// A checkpoint's rows are visible.
struct SinkPublished {
  CheckpointId id;
  std::string sink;
  std::uint64_t rows = 0;
};
/// What a worker's sources have done so far, for people.
struct Counters {
  Term term;
  std::uint64_t records_read = 0;
};

// From the coordinator.

/// Bring a sink back: fence it, check it, publish what the manifest lists. `manifest` is whole, as
/// it lies in the store.
struct RecoverSink {
  Term term;
  std::string sink;
  bool adopt = false;
  Bytes manifest;
};
/// Make and start tasks. Ends those of an earlier term first.
struct Deploy {
  Term term;
  std::uint32_t parallelism = 1;
  std::vector<std::string> workers;  ///< Subtask i of every operator runs on number i mod size.
  Bytes manifest;
  std::int64_t upload_patience_ns = 0;  ///< So long a task waits for the store to take an object.
};
/// Put a barrier into every source.
struct Trigger {
  CheckpointId id;
};
/// A checkpoint is given up.
struct Abort {
  CheckpointId id;
};
/// A checkpoint is decided: make visible what it lists.
struct Publish {
  CheckpointId id;
  std::string sink;
  std::vector<StagedObject> staged;
};
/// Rows up to `id` are known to be visible.
struct Published {
  CheckpointId id;
};
/// End all tasks of this term and earlier ones.
struct Withdraw {
  Term term;
};

// Again from a worker.

/// A task could not make its part of a checkpoint durable. It goes on, and so do its rows: with the
/// next one.
struct Declined {
  CheckpointId id;
  std::string task;
  std::string text;  ///< What went wrong.
};

using ControlMessage = std::variant<Join, TaskRunning, TaskFailed, Acknowledged, InputEnded,
                                    SinkRecovered, SinkPublished, Counters, RecoverSink, Deploy,
                                    Trigger, Abort, Publish, Published, Withdraw, Declined>;

/// The speaker's term; 0 for Join.
Term term_of(const ControlMessage& message);

void encode_message(Encoder& out, const ControlMessage& message);
/// Throws CorruptBytes.
ControlMessage decode_message(std::span<const std::byte> bytes);

}  // namespace millrace
