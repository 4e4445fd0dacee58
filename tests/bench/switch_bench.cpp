#include <boost/context/fiber.hpp>

#include "millrace/sim/world.hpp"

#include "simulator.hpp"

namespace millrace::bench {
namespace {

constexpr int rounds = 7;
constexpr int switches = 2'000'000;

/// Two tasks that wake each other in turn: neither time nor a device takes part.
double ns_of_switch() {
  sim::StackPool stacks;
  sim::World world({1}, sim::Timings{}, stacks);
  const auto node = world.add_node("node", "worker", [](Env& env) {
    Parker* other = nullptr;
    const auto task = env.tasks.start("other", [&](Env& own) {
      other = &own.parker;
      for (int i = 0; i < switches / 2; ++i) {
        own.parker.park_until(Instant::never());
        env.parker.unpark();
      }
    });
    while (other == nullptr) env.step(Site{"bench.begin"});
    for (int i = 0; i < switches / 2; ++i) {
      other->unpark();
      env.parker.park_until(Instant::never());
    }
  });
  world.start(node);
  const double seconds = seconds_of([&] { world.run_until(Instant::never()); });
  return seconds * 1e9 / static_cast<double>(world.switches());
}

double ns_there_and_back() {
  boost::context::fiber fiber([](boost::context::fiber&& outside) {
    for (int i = 0; i < switches; ++i) outside = std::move(outside).resume();
    return std::move(outside);
  });
  return seconds_of([&] {
           for (int i = 0; i < switches; ++i) fiber = std::move(fiber).resume();
         }) *
         1e9 / switches;
}

}  // namespace

void bench_switch(const Report& report) {
  if (!report.wants("sim/switch")) return;
  const auto [value, floor] = medians_of(rounds, ns_of_switch, ns_there_and_back);
  report.add({"sim/switch", "ns", value, floor, at_most(35), ratio_at_most(3)});
}

}  // namespace millrace::bench
