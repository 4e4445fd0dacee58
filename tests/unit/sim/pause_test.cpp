#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

constexpr Site work_site{"test.work"};
constexpr Landmark arrived{"test_arrived", "somebody got there"};

using Log = std::vector<std::string>;

std::string text_at(Env& env, const std::string& what) {
  return what + " at " + std::to_string(env.now().ns / 1'000'000) + " ms";
}

/// Pauses `node` from one instant to another.
void pause(Stage& stage, NodeId node, Instant from, Instant to) {
  stage.at(from, [&stage, node] { stage.world.pause(node); });
  stage.at(to, [&stage, node] { stage.world.wake(node); });
}

}  // namespace

TEST_CASE("nothing of a paused node runs, and its timers wait", "[sim][pause]") {
  Log log;
  Stage stage({7, true}, even_timings());
  const NodeId node = stage.add("worker1", [&](Env& env) {
    std::vector<std::unique_ptr<RunningTask>> tasks;
    // In the order of their instants; the last comes after the pause.
    for (const auto& [role, ms] : {std::pair{"c", 4}, {"a", 2}, {"b", 3}, {"d", 30}}) {
      tasks.push_back(env.tasks.start(role, [&log, wake = at_ms(ms)](Env& own) {
        sleep_until(own, wake);
        log.push_back(text_at(own, own.role));
      }));
    }
    for (const auto& task : tasks) task->join(Instant::never());
  });
  stage.add("worker2", [&](Env& env) {
    sleep_until(env, at_ms(5));
    log.push_back(text_at(env, "another node"));
  });
  pause(stage, node, at_ms(1), at_ms(20));
  stage.run();

  // In the order in which they would have run. None of them noticed.
  CHECK(log == Log{"another node at 5 ms", "a at 20 ms", "b at 20 ms", "c at 20 ms", "d at 30 ms"});
}

TEST_CASE("a task that was ready when its node was paused runs when it wakes", "[sim][pause]") {
  Log log;
  Stage stage({7, true}, even_timings());
  World& world = stage.world;
  const NodeId node = stage.add("worker1", [&](Env& env) { log.push_back(text_at(env, "ran")); });
  world.pause(node);
  CHECK(world.state_of(node) == NodeState::paused);
  stage.at(at_ms(20), [&] { world.wake(node); });
  stage.run();

  CHECK(world.state_of(node) == NodeState::up);
  CHECK(log == Log{"ran at 20 ms"});
}

TEST_CASE("a device goes on while its node is paused", "[sim][pause]") {
  Log log;
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);
    file->write_at(0, as_bytes("text"));
    log.push_back(text_at(env, "written"));
  });
  pause(stage, node, at_us(15), at_ms(20));
  stage.run();

  CHECK(log == Log{"written at 20 ms"});
}

TEST_CASE("what is sent to a paused node waits for it, in order", "[sim][pause]") {
  std::string received;
  Log log;
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto listener = env.network.listen("test");
    listener->bind(env.parker);
    std::unique_ptr<Connection> connection;
    while (!(connection = listener->try_accept())) env.parker.park_until(Instant::never());
    connection->bind(env.parker);
    while (received.size() < 4) {
      std::string piece(10, '?');
      piece.resize(connection->try_read(std::as_writable_bytes(std::span(piece))));
      received += piece;
      if (piece.empty()) env.parker.park_until(Instant::never());
    }
    log.push_back(text_at(env, "received"));
  });
  stage.add("worker2", [&](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = env.network.connect({"worker1", "test"}, Lane::data, env.in(1s));
    sleep_until(env, at_ms(10));
    for (const char* text : {"a", "b", "c", "d"}) {
      if (connection->write(as_bytes(text), env.in(1s))) log.push_back(text_at(env, text));
    }
    env.sleep(100ms);
  });
  pause(stage, node, at_ms(5), at_ms(20));
  stage.run();

  CHECK(received == "abcd");
  CHECK(log == Log{"a at 10 ms", "b at 10 ms", "c at 10 ms", "d at 10 ms", "received at 20 ms"});
}

TEST_CASE("the machine of a paused node takes connections, which wait for it", "[sim][pause]") {
  Log log;
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto listener = env.network.listen("test");
    listener->bind(env.parker);
    while (!listener->try_accept()) env.parker.park_until(Instant::never());
    log.push_back(text_at(env, "accepted"));
    wait_for_ever(env);
  });
  stage.add("worker2", [&](Env& env) {
    sleep_until(env, at_ms(10));
    const auto connection = env.network.connect({"worker1", "test"}, Lane::data, env.in(1s));
    log.push_back(text_at(env, "connected"));
    wait_for_ever(env);
  });
  pause(stage, node, at_ms(5), at_ms(20));
  stage.run();

  CHECK(log == Log{"connected at 10 ms", "accepted at 20 ms"});
}

TEST_CASE("a task that reaches the landmark at which its node is paused goes on when it wakes",
          "[sim][pause]") {
  Log log;
  Stage stage({7}, even_timings());
  World& world = stage.world;
  const NodeId node = stage.add("worker1", [&](Env& env) {
    sleep_until(env, at_ms(5));
    env.landmark(arrived);
    log.push_back(text_at(env, "behind it"));
    env.step(work_site);
    log.push_back(text_at(env, "and on"));
  });
  world.on_landmark([&](const LandmarkEvent& event) { world.pause(event.node); });
  stage.at(at_ms(20), [&] { world.wake(node); });
  stage.run();

  CHECK(log == Log{"behind it at 20 ms", "and on at 20 ms"});
}

TEST_CASE("a wake-up during a pause is not lost", "[sim][pause]") {
  for (const bool at_landmark : {false, true}) {
    Log log;
    Parker* parker = nullptr;
    Stage stage({7}, even_timings());
    World& world = stage.world;
    const NodeId node = stage.add("worker1", [&](Env& env) {
      parker = &env.parker;
      if (at_landmark) env.landmark(arrived);
      if (env.parker.park_until(at_ms(100))) log.push_back(text_at(env, "woken"));
    });
    world.on_landmark([&](const LandmarkEvent& event) { world.pause(event.node); });
    stage.at(at_ms(5), [&] { world.pause(node); });
    stage.at(at_ms(10), [&] { parker->unpark(); });
    stage.at(at_ms(20), [&] { world.wake(node); });
    stage.run();

    CAPTURE(at_landmark);
    CHECK(log == Log{"woken at 20 ms"});
  }
}

TEST_CASE("a node that dies while it is paused unwinds and does not run on", "[sim][pause]") {
  // What the task is in when its node is paused.
  const std::vector<std::pair<std::string, World::Boot>> waits = {
      {"a wait whose end comes during the pause", [](Env& env) { sleep_until(env, at_ms(7)); }},
      {"a wait without end", wait_for_ever},
      {"the use of a device", [](Env& env) { env.step(work_site); }},
      {"a landmark", [](Env& env) { env.landmark(arrived); }},
  };
  Timings timings;
  timings.step = {7ms, 7ms};
  for (const auto& [name, wait] : waits) {
    Log log;
    Stage stage({7}, timings);
    World& world = stage.world;
    const NodeId node = stage.add("worker1", [&log, &wait = wait](Env& env) {
      try {
        wait(env);
        log.emplace_back("went on");
      } catch (const Killed&) {
        log.emplace_back("killed");
        throw;
      }
    });
    world.on_landmark([&](const LandmarkEvent& event) { world.pause(event.node); });
    stage.at(at_ms(5), [&] { world.pause(node); });
    stage.at(at_ms(10), [&] { world.kill(node); });
    stage.at(at_ms(20), [&] { world.wake(node); });  // There is nobody to wake.
    stage.run();

    CAPTURE(name);
    CHECK(log == Log{"killed"});
    CHECK(world.state_of(node) == NodeState::killed);
  }
}

TEST_CASE("only a node that is up can be paused, and only a paused one woken", "[sim][pause]") {
  Stage stage;
  World& world = stage.world;
  const NodeId node = world.add_node("worker1", "worker", wait_for_ever);

  world.pause(node);
  CHECK(world.state_of(node) == NodeState::killed);
  world.wake(node);
  CHECK(world.state_of(node) == NodeState::killed);

  world.start(node);
  world.wake(node);
  CHECK(world.state_of(node) == NodeState::up);
  world.pause(node);
  world.start(node);  // It lives.
  CHECK(world.state_of(node) == NodeState::paused);
  CHECK(world.life_of(node) == 1);
  world.lose_power(node);
  CHECK(world.state_of(node) == NodeState::dark);
}
