#include "stage.hpp"

#include <stdexcept>
#include <utility>

namespace millrace::sim {

using namespace std::chrono_literals;

Timings even_timings() {
  Timings timings;
  timings.step = {1us, 1us};
  timings.message = {100us, 100us};
  timings.slow = {0, 1};
  timings.local_message = {2us, 2us};
  timings.disk_write = {10us, 10us};
  timings.disk_sync = {500us, 500us};
  return timings;
}

Stage::Stage(Seed seed, const Timings& timings) : world(seed, timings, stacks_) {}

NodeId Stage::add(const std::string& name, World::Boot body) {
  const NodeId node = world.add_node(name, "worker", std::move(body));
  world.start(node);
  return node;
}

World::Ended Stage::run(Instant limit) {
  const World::Ended ended = world.run_until(limit);
  if (world.violation()) throw std::runtime_error(world.violation()->claim);
  return ended;
}

void wait_for_ever(Env& env) {
  while (true) env.parker.park_until(Instant::never());
}

std::string claim_of(const World& world) {
  return world.violation() ? world.violation()->claim : "";
}

}  // namespace millrace::sim
