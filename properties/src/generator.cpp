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

constexpr Site has_options{"options.are_drawn"};
constexpr Site tolerable_failures{"options.tolerable_failures"};
constexpr Site min_pause{"options.min_pause"};
constexpr Site timeout{"options.timeout"};
constexpr Site attempts{"options.attempts"};
constexpr Site within{"options.within"};
constexpr Site delay{"options.delay"};
constexpr Site is_fixed{"options.is_fixed"};
constexpr Site max_delay{"options.max_delay"};
constexpr Site retained{"options.retained"};

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

/// Every fourth job has other options than those that nobody has set. Asked beside all else, so
/// that they move no other answer.
void draw_options(Case& made) {
  sim::Draws draws(sim::Seed{made.seed}, sim::Domain::plan, "options");
  if (!draws.hits(has_options, {1, 4})) return;
  const auto ms = [&](Site site, std::uint64_t least, std::uint64_t most) {
    return std::chrono::milliseconds(draws.between(site, least, most));
  };
  made.checkpoint.tolerable_failures =
      static_cast<std::uint32_t>(draws.below(tolerable_failures, 4));
  made.checkpoint.min_pause =
      ms(min_pause, 0, static_cast<std::uint64_t>(made.checkpoint.interval / 1ms));
  made.checkpoint.timeout = ms(timeout, 1'000, 10'000);
  // A job that gives up says nothing about what it would have shown. So the attempts of every
  // strategy last for 25 s at least, and no storm does.
  made.restart.attempts = static_cast<std::uint32_t>(draws.between(attempts, 50, 100));
  const bool fixed = draws.hits(is_fixed, {1, 2});
  if (fixed) made.restart.strategy = RestartOptions::Strategy::fixed;
  made.restart.delay = fixed ? ms(delay, 500, 2'000) : ms(delay, 50, 500);
  if (!fixed) made.restart.max_delay = ms(max_delay, 500, 5'000);
  if (draws.hits(within, {1, 4})) made.restart.within = ms(within, 10'000, 60'000);
  made.checkpoint.retained = static_cast<std::uint32_t>(draws.between(retained, 1, 4));
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
  made.checkpoint.interval = std::chrono::milliseconds(100 + draws.below(interval, 400));
  std::uint64_t count = 5 + draws.below(checkpoints, 13);
  // Now and then ten times as many, for what fills up slowly.
  if (draws.hits(is_long, {1, 64})) count *= 10;
  made.arrival = made.checkpoint.interval * count;

  draw_options(made);

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
