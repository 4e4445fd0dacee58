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

int add_stage(ChainLayout& chain, StageLayout stage) {
  if (chain.name.empty()) chain.name = stage.node->name;
  chain.stages.push_back(stage);
  return static_cast<int>(chain.stages.size()) - 1;
}

}  // namespace

int ChainLayout::lanes() const {
  return inputs.empty() ? 0 : inputs.back().first_lane + inputs.back().lanes;
}

const EdgeLayout& ChainLayout::edge_of(int lane) const {
  for (const EdgeLayout& edge : inputs) {
    if (lane >= edge.first_lane && lane < edge.first_lane + edge.lanes) return edge;
  }
  violated("a lane belongs to an edge", Where::here());
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
    const bool shares_a_task = node->inputs.size() == 1 &&
                               (node->inputs[0].dealt == Node::Dealt::straight || parallelism == 1);
    if (shares_a_task) {
      const Node::Input& input = node->inputs[0];
      const Place parent = places.at(input.from.get());
      ChainLayout& chain = layout.chains[static_cast<std::size_t>(parent.chain)];
      places[node] = {parent.chain, add_stage(chain, {node, parent.stage, input.output})};
      continue;
    }
    ChainLayout chain;
    chain.parallelism = parallelism;
    int lane = 0;
    for (const Node::Input& input : node->inputs) {
      const Place from = places.at(input.from.get());
      EdgeLayout edge;
      edge.from = from.chain;
      edge.from_stage = from.stage;
      edge.from_output = input.output;
      edge.is_straight = input.dealt == Node::Dealt::straight;
      edge.port = input.port;
      edge.first_lane = lane;
      edge.lanes = edge.is_straight ? 1 : parallelism;
      edge.rows = input.from->outputs[static_cast<std::size_t>(input.output)];
      lane += edge.lanes;
      chain.inputs.push_back(edge);
    }
    add_stage(chain, {node});
    places[node] = {static_cast<int>(layout.chains.size()), 0};
    layout.chains.push_back(std::move(chain));
  }
  for (const ChainLayout& chain : layout.chains) {
    invariant(!chain.name.empty(), "a chain has an operator with a name");
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
