#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

constexpr Site work_site{"test.work"};
constexpr Landmark arrived{"test_arrived", "somebody got there"};

World::Ended run(Stage& stage) { return stage.world.run_until(one_hour); }

/// Counts how far it comes.
World::Boot count_steps(int& steps) {
  return [&steps](Env& env) {
    while (true) {
      env.step(work_site);
      ++steps;
    }
  };
}

}  // namespace

TEST_CASE("a broken invariant in a task ends the run with its claim and place",
          "[sim][violation]") {
  int line = 0;
  int steps = 0;
  bool went_on = false;
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    env.sleep(1ms);
    line = __LINE__ + 1;
    invariant(steps < 0, "water runs downhill");
    went_on = true;
  });
  stage.add("worker2", count_steps(steps));

  CHECK(run(stage) == World::Ended::violated);

  const auto& violation = stage.world.violation();
  REQUIRE(violation.has_value());
  CHECK(violation->claim == "water runs downhill");
  CHECK(violation->file.ends_with("violation_test.cpp"));
  CHECK(violation->line == line);
  CHECK_FALSE(went_on);
  CHECK(stage.world.now() >= at_ms(1));

  const int steps_then = steps;
  CHECK(steps_then > 0);
  CHECK(run(stage) == World::Ended::violated);  // Nothing ever happens here again.
  CHECK(steps == steps_then);
}

TEST_CASE("a broken invariant on the main stack ends the run with its claim and place",
          "[sim][violation]") {
  int line = 0;
  bool went_on = false;
  Stage stage;
  stage.at(at_ms(1), [&] {
    line = __LINE__ + 1;
    invariant(went_on, "water runs downhill");
    went_on = true;
  });
  stage.at(at_ms(1), [&] { went_on = true; });

  CHECK(run(stage) == World::Ended::violated);

  const auto& violation = stage.world.violation();
  REQUIRE(violation.has_value());
  CHECK(violation->claim == "water runs downhill");
  CHECK(violation->file.ends_with("violation_test.cpp"));
  CHECK(violation->line == line);
  CHECK_FALSE(went_on);
  CHECK(stage.world.now() == at_ms(1));
}

TEST_CASE("an invariant that a listener finds broken ends the run", "[sim][violation]") {
  bool went_on = false;
  Stage stage;
  stage.world.on_landmark(
      [](const LandmarkEvent& event) { invariant(event.fields.count != 3, "three is too many"); });
  stage.add("worker1", [&](Env& env) {
    for (std::uint64_t count = 1; count <= 5; ++count) {
      LandmarkFields fields;
      fields.count = count;
      env.landmark(arrived, fields);
      went_on = count >= 3;
    }
  });

  CHECK(run(stage) == World::Ended::violated);
  CHECK(claim_of(stage.world) == "three is too many");
  CHECK_FALSE(went_on);
}

TEST_CASE("an error that a task does not handle is a violation that names the task",
          "[sim][violation]") {
  Stage stage;
  stage.add("worker1", [](Env& env) {
    const auto task =
        env.tasks.start("window.1", [](Env&) { throw std::runtime_error("the sluice is shut"); });
    task->join(Instant::never());
  });

  CHECK(run(stage) == World::Ended::violated);
  CHECK(holds(claim_of(stage.world), "worker1/window.1/life1"));
  CHECK(holds(claim_of(stage.world), "the sluice is shut"));
}

TEST_CASE("a task that is cancelled or killed is no violation", "[sim][violation]") {
  Stage stage;
  const NodeId node = stage.add("worker1", [](Env& env) {
    const auto task = env.tasks.start("window.1", wait_for_ever);
    task->cancel();
    task->join(Instant::never());
    wait_for_ever(env);
  });
  stage.at(at_ms(1), [&] { stage.world.kill(node); });

  CHECK(run(stage) == World::Ended::idle);
  CHECK(claim_of(stage.world).empty());
}

TEST_CASE("a task that waits for what it has lets time stand still, which is a violation",
          "[sim][violation]") {
  int rounds = 0;
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    while (true) {
      env.parker.unpark();
      env.parker.park_until(Instant::never());
      ++rounds;
    }
  });

  CHECK(run(stage) == World::Ended::violated);
  CHECK(holds(claim_of(stage.world), "lets time stand still"));
  CHECK(rounds > 1'000);
  CHECK(stage.world.now() == Instant{0});
}

TEST_CASE("a task whose deadline is always in the past lets time stand still, too",
          "[sim][violation]") {
  Stage stage;
  stage.add("worker1", [](Env& env) {
    while (true) env.parker.park_until(env.now());
  });

  CHECK(run(stage) == World::Ended::violated);
  CHECK(holds(claim_of(stage.world), "lets time stand still"));
}

TEST_CASE("a task may look as often as it likes if it lets time pass in between",
          "[sim][violation]") {
  int rounds = 0;
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    for (; rounds < 300'000; ++rounds) {
      env.parker.park_until(env.now());
      if (rounds % 1'000 == 0) env.step(work_site);
    }
  });

  CHECK(run(stage) == World::Ended::idle);
  CHECK(rounds == 300'000);
}

TEST_CASE("the first of several violations is the one that is told", "[sim][violation]") {
  Stage stage;
  for (const char* name : {"worker1", "worker2"}) {
    stage.add(name, [name](Env&) { invariant(false, name); });
  }
  run(stage);
  const std::string first = claim_of(stage.world);
  run(stage);

  CHECK((first == "worker1" || first == "worker2"));
  CHECK(claim_of(stage.world) == first);
}

TEST_CASE("after a run violations are handled as they were before it", "[sim][violation]") {
  const auto ours = [](std::string_view, Where) {};
  const ViolationHandler before = set_violation_handler(ours);
  {
    Stage stage;
    stage.add("worker1", [](Env&) { invariant(false, "water runs downhill"); });
    run(stage);
  }
  Stage calm;
  calm.add("worker1", [](Env& env) { env.sleep(1ms); });
  run(calm);

  CHECK(set_violation_handler(before) == static_cast<ViolationHandler>(ours));
}
