#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"

namespace millrace {

/// An edge between two chains: an exchange.
struct EdgeLayout {
  int from = 0;        ///< The chain whose rows it carries.
  int from_stage = 0;  ///< Which of that chain's stages gives them.
  int first_lane = 0;  ///< Lanes [first_lane, first_lane + parallelism of `from`) of the consumer.
  const RowType* rows = nullptr;
};

/// Operators that run in one task: each calls the next.
struct ChainLayout {
  std::string name;                 ///< Of its first operator that has one.
  std::vector<const Node*> stages;  ///< In order; the first is called by the task.
  std::vector<int> parents;         ///< Per stage: the stage that calls it; -1 for the first.
  int parallelism = 1;
  std::vector<EdgeLayout> inputs;  ///< None: a source.

  bool is_source() const { return inputs.empty(); }
  int lanes() const;
};

/// How a job is cut into tasks: every subtask of every chain is one. Refers to the job's nodes.
struct Layout {
  std::vector<ChainLayout> chains;  ///< Each behind those that it reads from.
  int parallelism = 1;

  std::size_t task_count() const;
};

/// Two operators share a task when rows go from one to the other without changing subtasks: not by
/// key, or with only one subtask. Pure.
Layout plan_layout(const Job& job, int parallelism);

/// A task's name: `window.1`.
std::string task_name(std::string_view chain, int subtask);

/// Where each task runs: the subtasks of every chain go around the workers. Pure.
///
/// Returns, per chain and subtask, the index of the worker.
std::vector<std::vector<int>> assign_workers(const Layout& layout, int workers);

}  // namespace millrace
