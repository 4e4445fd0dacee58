#include "millrace/runtime/job/layout.hpp"

#include <map>

#include <fmt/format.h>

#include "millrace/env/invariant.hpp"

namespace millrace {
namespace {

/// Where a node has been put.
struct Place {
  int chain = 0;
  int stage = 0;
};

int add_stage(ChainLayout& chain, const Node& node, int parent) {
  if (chain.name.empty()) chain.name = node.name;
  chain.stages.push_back(&node);
  chain.parents.push_back(parent);
  return static_cast<int>(chain.stages.size()) - 1;
}

}  // namespace

int ChainLayout::lanes() const {
  return inputs.empty() ? 0 : inputs.back().first_lane + parallelism;
}

std::size_t Layout::task_count() const {
  std::size_t count = 0;
  for (const ChainLayout& chain : chains) count += static_cast<std::size_t>(chain.parallelism);
  return count;
}

Layout plan_layout(const Job& job, int parallelism) {
  Layout layout;
  layout.parallelism = parallelism;
  std::map<const Node*, Place> places;
  for (const Node* node : job.nodes()) {
    const bool shares_a_task =
        node->inputs.size() == 1 && (!node->inputs[0].by_key || parallelism == 1);
    if (shares_a_task) {
      const Place parent = places.at(node->inputs[0].from.get());
      ChainLayout& chain = layout.chains[static_cast<std::size_t>(parent.chain)];
      places[node] = {parent.chain, add_stage(chain, *node, parent.stage)};
      continue;
    }
    ChainLayout chain;
    chain.parallelism = parallelism;
    int lane = 0;
    for (const Node::Input& input : node->inputs) {
      const Place from = places.at(input.from.get());
      chain.inputs.push_back({from.chain, from.stage, lane, input.from->out});
      lane += parallelism;
    }
    add_stage(chain, *node, -1);
    places[node] = {static_cast<int>(layout.chains.size()), 0};
    layout.chains.push_back(std::move(chain));
  }
  for (const ChainLayout& chain : layout.chains) {
    invariant(!chain.name.empty(), "a chain begins with a source or a keyed operator");
  }
  return layout;
}

std::string task_name(std::string_view chain, int subtask) {
  return fmt::format("{}.{}", chain, subtask);
}

std::vector<std::vector<int>> assign_workers(const Layout& layout, int workers) {
  std::vector<std::vector<int>> assigned;
  for (const ChainLayout& chain : layout.chains) {
    auto& subtasks = assigned.emplace_back();
    for (int i = 0; i < chain.parallelism; ++i) subtasks.push_back(i % workers);
  }
  return assigned;
}

}  // namespace millrace
