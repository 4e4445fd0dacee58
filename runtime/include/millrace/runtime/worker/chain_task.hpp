#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "millrace/env/channel.hpp"
#include "millrace/env/env.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/flow/gate.hpp"
#include "millrace/runtime/flow/inbox.hpp"
#include "millrace/runtime/job/layout.hpp"
#include "millrace/runtime/sink/committer.hpp"
#include "millrace/runtime/source/reading_stage.hpp"
#include "millrace/runtime/time/valve.hpp"
#include "millrace/runtime/worker/uploader.hpp"

namespace millrace {

/// A producer on another node has opened its lane.
struct AttachLane {
  int lane = 0;
  std::unique_ptr<Connection> connection;
  FrameReader reader;
};
/// What the worker tells one of its tasks.
using TaskOrder = std::variant<AttachLane, Trigger, Abort, Published>;
using TaskOrders = Channel<TaskOrder>;

/// Where one of a task's output lanes goes.
struct LaneTarget {
  int stage = 0;                       ///< Which of the chain's stages gives the rows,
  Way way;                             ///< and which of that stage's ways out it is.
  std::shared_ptr<LaneChannel> local;  ///< To a task of this node; else:
  Endpoint node;
  std::string consumer;
  int consumer_lane = 0;
};

/// What a producer says first on a lane to another node.
struct LaneGreeting {
  Term term;
  std::string consumer;  ///< The task.
  std::int32_t lane = 0;
};

/// Everything that one task of a job is made from.
struct ChainPlan {
  const ChainLayout* chain = nullptr;
  Subtask at;
  Term term;
  std::shared_ptr<const Manifest> restored;
  std::vector<std::shared_ptr<LaneChannel>> local_inputs;  ///< Per lane; null: from another node.
  std::vector<LaneTarget> outputs;
  std::optional<std::uint64_t> records_per_second;  ///< Of this task, if it is a source.
  std::chrono::nanoseconds upload_patience{0};      ///< See run_uploader.
  std::shared_ptr<TaskOrders> orders;
  Report report;
};

/// What the sources of a worker count, for people. Written by tasks, read by the worker.
struct SourceCounters {
  std::atomic<std::uint64_t> records_read{0};
};

/// Runs a chain of operators of one subtask: takes rows, watermarks and barriers from its lanes or
/// its source, and never ends before the job (PROTOCOL 5). Returns only by an exception.
void run_chain(Env& env, const ChainPlan& plan, SourceCounters& counters);

}  // namespace millrace
