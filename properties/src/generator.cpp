#include <algorithm>

#include "millrace/env/hash.hpp"
#include "millrace/faults/plan_generator.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/properties/subject.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/sim/database_server.hpp"
#include "millrace/sim/log_server.hpp"
#include "millrace/sim/store_server.hpp"

namespace millrace::properties {
namespace {

using namespace std::chrono_literals;

constexpr Site worker_count{"cluster.workers"};
constexpr Site parallelism{"cluster.parallelism"};
constexpr Site interval{"timing.interval"};
constexpr Site checkpoints{"timing.checkpoints"};
constexpr Site is_long{"timing.is_long"};

constexpr std::uint64_t seed_bits = 52;

std::vector<std::string> node_names(const ClusterShape& cluster) {
  std::vector<std::string> names{"coordinator1", "coordinator2", "store", "database", "log"};
  for (std::uint32_t i = 1; i <= cluster.workers; ++i)
    names.push_back("worker" + std::to_string(i));
  return names;
}

/// Who talks to whom, the devices' clients first.
void add_links(faults::PlanSpace& space, const ClusterShape& cluster) {
  std::vector<std::string> workers;
  for (std::uint32_t i = 1; i <= cluster.workers; ++i)
    workers.push_back("worker" + std::to_string(i));
  for (const std::string coordinator : {"coordinator1", "coordinator2"}) {
    space.links.push_back({coordinator, sim::store_node});
    for (const std::string& worker : workers) space.control_links.push_back({coordinator, worker});
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    for (const char* device : {sim::store_node, sim::log_node}) {
      space.links.push_back({workers[i], device});
    }
    for (std::size_t j = 0; j < i; ++j) space.links.push_back({workers[j], workers[i]});
  }
  space.links.push_back({"worker1", sim::database_node});  // The committer's.
  space.links.insert(space.links.end(), space.control_links.begin(), space.control_links.end());
}

/// What changes something comes first and most often.
void add_operations(faults::PlanSpace& space) {
  for (int times = 0; times < 3; ++times) {
    space.operations.push_back({sim::store_node, "put"});
    space.operations.push_back({sim::store_node, "swap"});
    space.operations.push_back({sim::database_node, "publish"});
  }
  for (const char* operation : {"read", "read_register", "remove", "*"}) {
    space.operations.push_back({sim::store_node, operation});
  }
  for (const char* operation : {"fence", "ensure"}) {
    space.operations.push_back({sim::database_node, operation});
  }
  space.operations.push_back({sim::log_node, "read"});
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
  std::uint64_t count = 5 + draws.below(checkpoints, 13);
  // Now and then ten times as many, for what fills up slowly.
  if (draws.hits(is_long, {1, 64})) count *= 10;
  made.arrival = made.checkpoint_interval * count;

  faults::PlanSpace space;
  space.nodes = node_names(made.cluster);
  space.disk_nodes = {sim::store_node, sim::database_node};
  add_links(space, made.cluster);
  add_operations(space);
  for (const Landmark* landmark : landmarks::all) {
    if (landmark->kind == Landmark::Kind::protocol) space.anchors.push_back(landmark);
  }
  space.span = made.arrival;
  space.checkpoints = count;
  made.plan = faults::generate_plan(space, draws);
  return made;
}

Case generate_case(const Subject& subject, std::uint64_t seed) {
  Case made = generate_case(subject.written, subject.input, seed);
  made.registered = subject.registered;
  return made;
}

}  // namespace millrace::properties
