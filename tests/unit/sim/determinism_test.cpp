#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/sim/store_server.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

constexpr Site think_site{"test.think"};

/// Sends numbers to the echo, reads them back, and keeps what it drew in the store.
void ask(Env& env) {
  const auto connection = env.network.connect({"echo", "echo"}, Lane::data, env.in(1s));
  connection->bind(env.parker);
  for (int i = 0; i < 20; ++i) {
    const auto number = std::to_string(env.chance.below(think_site, 1'000'000));
    connection->write(as_bytes(number), env.in(1s));
    for (std::size_t read = 0; read < number.size();) {
      std::array<std::byte, 16> piece;
      const std::size_t count = connection->try_read(piece);
      read += count;
      if (count == 0) env.parker.park_until(Instant::never());
    }
    put(env.store, env.role, as_bytes(number), env.in(1s));
    env.step(think_site);
  }
}

/// Sends back what it gets on one connection.
void answer(Env& env, Connection& connection) {
  connection.bind(env.parker);
  try {
    while (true) {
      std::array<std::byte, 16> piece;
      const std::size_t count = connection.try_read(piece);
      if (count == 0) {
        env.parker.park_until(Instant::never());
      } else {
        connection.write(std::span(piece).first(count), Instant::never());
      }
    }
  } catch (const ConnectionLost&) {
  }
}

void echo(Env& env) {
  const auto listener = env.network.listen("echo");
  listener->bind(env.parker);
  std::vector<std::unique_ptr<RunningTask>> sessions;
  while (true) {
    while (auto connection = listener->try_accept()) {
      const std::shared_ptr<Connection> shared = std::move(connection);
      sessions.push_back(env.tasks.start("session." + std::to_string(sessions.size()),
                                         [shared](Env& own) { answer(own, *shared); }));
    }
    env.parker.park_until(Instant::never());
  }
}

void ask_three_times(Env& env) {
  std::vector<std::unique_ptr<RunningTask>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(env.tasks.start("ask." + std::to_string(i), [](Env& own) {
      try {
        ask(own);
      } catch (const WorldError&) {
        // One of the servers was lost; that is the end of this task.
      }
    }));
  }
  for (const auto& task : tasks) task->join(Instant::never());
}

struct Ran {
  std::uint64_t hash = 0;
  std::vector<TraceEvent> events;
  Instant end;
};

/// A run with several tasks, messages, a disk, a death and a restart.
Ran run(Seed seed) {
  Ran ran;
  Stage stage(seed);
  World& world = stage.world;
  world.trace().listen([&](const TraceEvent& event) { ran.events.push_back(event); });
  world.start(world.add_node(store_node, "store", run_store_server));
  const NodeId server = stage.add("echo", echo);
  stage.add("worker1", ask_three_times);
  stage.add("worker2", ask_three_times);
  stage.at(at_ms(100), [&] { world.lose_power(server); });
  stage.at(at_ms(101), [&] { world.start(server); });
  world.run_until(at_ms(5'000));
  ran.end = world.now();
  ran.hash = world.trace().hash();
  return ran;
}

}  // namespace

TEST_CASE("equal seeds give equal runs, event by event", "[sim][determinism]") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Ran one = run({seed});
    const Ran other = run({seed});

    CAPTURE(seed);
    CHECK(one.events.size() > 1'000);
    CHECK((one.events == other.events));
    CHECK(one.hash == other.hash);
  }
}

TEST_CASE("other seeds give other runs", "[sim][determinism]") {
  const Ran one = run({1});

  CHECK(run({2}).hash != one.hash);
  CHECK(run({3}).hash != one.hash);
  CHECK(run({1, true}).hash != one.hash);
  CHECK(run({2, true}).hash == run({1, true}).hash);  // A quiet run asks the seed nothing.
}

TEST_CASE("every kind of event that the world records is in the trace of a busy run",
          "[sim][determinism]") {
  std::vector<int> counts(9, 0);
  for (const TraceEvent& event : run({1}).events) ++counts.at(event.kind_and_a >> 56);

  for (const EventKind kind : {EventKind::resumed, EventKind::time, EventKind::sent,
                               EventKind::delivered, EventKind::disk, EventKind::life}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(counts.at(static_cast<std::size_t>(kind)) > 0);
  }
}

TEST_CASE("the events of a run are in the order of virtual time", "[sim][determinism]") {
  const Ran ran = run({1});
  std::uint64_t last = 0;
  bool in_order = true;
  for (const TraceEvent& event : ran.events) {
    in_order &= event.at >= last;
    last = event.at;
  }

  CHECK(in_order);
  CHECK(last <= static_cast<std::uint64_t>(ran.end.ns));
}
