#include <algorithm>

#include "millrace/env/hash.hpp"
#include "millrace/faults/plan_generator.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/runtime/landmarks.hpp"

namespace millrace::properties {
namespace {

using namespace std::chrono_literals;

constexpr Site worker_count{"cluster.workers"};
constexpr Site parallelism{"cluster.parallelism"};
constexpr Site interval{"timing.interval"};
constexpr Site checkpoints{"timing.checkpoints"};

constexpr std::uint64_t seed_bits = 52;

std::vector<std::string> node_names(const ClusterShape& cluster) {
  std::vector<std::string> names{"coordinator1", "coordinator2", "store", "database", "log"};
  for (std::uint32_t i = 1; i <= cluster.workers; ++i)
    names.push_back("worker" + std::to_string(i));
  return names;
}

}  // namespace

std::uint64_t run_seed(std::uint64_t campaign_seed, std::uint64_t index) {
  return mix64(mix64(campaign_seed) + index) >> (64 - seed_bits);
}

Case generate_case(const JobSpec& job, const Input& input, std::uint64_t seed) {
  Case made;
  made.job = job;
  made.input = input;
  made.seed = seed;
  sim::Draws draws(sim::Seed{seed}, sim::Domain::plan, "case");
  made.cluster.workers = static_cast<std::uint32_t>(1 + draws.below(worker_count, 3));
  made.cluster.parallelism = static_cast<std::uint32_t>(1 + draws.below(parallelism, 3));
  // So that a calm run completes 3 to 20 checkpoints before its input ends.
  made.checkpoint_interval = std::chrono::milliseconds(100 + draws.below(interval, 400));
  const std::uint64_t count = 5 + draws.below(checkpoints, 13);
  made.arrival = made.checkpoint_interval * count;

  faults::PlanSpace space;
  space.nodes = node_names(made.cluster);
  for (const Landmark* landmark : landmarks::all) {
    if (landmark->kind == Landmark::Kind::protocol) space.anchors.push_back(landmark);
  }
  space.span = made.arrival;
  space.checkpoints = count;
  made.plan = faults::generate_plan(space, draws);
  return made;
}

}  // namespace millrace::properties
