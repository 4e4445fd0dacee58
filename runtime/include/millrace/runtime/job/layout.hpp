#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"

namespace millrace {

/// An edge between two chains. Each subtask of the consumer has a lane from every subtask of
/// `from`; or, if rows go straight, one from its own.
struct EdgeLayout {
  int from = 0;         ///< The chain whose rows it carries,
  int from_stage = 0;   ///< which of that chain's stages gives them,
  int from_output = 0;  ///< and at which of its outputs.
  bool is_straight = false;
  int port = 0;        ///< Of the consumer's first stage.
  int first_lane = 0;  ///< Of the consumer: lanes [first_lane, first_lane + lanes).
  int lanes = 1;
  const RowType* rows = nullptr;

  /// The consumer's lane from subtask `producer` of `from`.
  int lane_from(int producer) const { return first_lane + (is_straight ? 0 : producer); }
};

/// One operator of a chain.
struct StageLayout {
  const Node* node = nullptr;
  int parent = -1;  ///< The stage that calls it; -1: the task does.
  int output = 0;   ///< At which of its outputs.
};

/// Operators that run in one task: each calls the next.
struct ChainLayout {
  std::string name;                 ///< Of its first operator that has one.
  std::vector<StageLayout> stages;  ///< In order; the first is called by the task.
  int parallelism = 1;
  std::vector<EdgeLayout> inputs;  ///< None: a source.

  bool is_source() const { return inputs.empty(); }
  int lanes() const;
  /// The edge that a lane belongs to.
  const EdgeLayout& edge_of(int lane) const;
};

/// How a job is cut into tasks: every subtask of every chain is one. Refers to the job's nodes.
struct Layout {
  std::vector<ChainLayout> chains;  ///< Each behind those that it reads from.
  int parallelism = 1;

  std::size_t task_count() const;
};

/// Two operators share a task when rows go from one to the other without changing subtasks, and
/// from nowhere else: straight, or with only one subtask. Pure.
Layout plan_layout(const Job& job, int parallelism);

/// A task's name: `window.1`.
std::string task_name(std::string_view chain, int subtask);

/// Where each task runs: the subtasks of every chain go around the workers. Pure.
///
/// Returns, per chain and subtask, the index of the worker.
std::vector<std::vector<int>> assign_workers(const Layout& layout, int workers);

}  // namespace millrace
