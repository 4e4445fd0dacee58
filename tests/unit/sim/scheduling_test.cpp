#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/channel.hpp"
#include "millrace/sim/draw_book.hpp"

#include "scheduler.hpp"
#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

constexpr Site pause_site{"test.pause"};

using Handles = std::vector<std::unique_ptr<RunningTask>>;

void join_all(const Handles& tasks) {
  for (const auto& task : tasks) task->join(Instant::never());
}

/// In which order ten tasks run that become ready one after the other.
std::vector<int> order_of_ten(Seed seed) {
  std::vector<int> order;
  Stage stage(seed);
  stage.add("worker1", [&](Env& env) {
    Handles tasks;
    for (int i = 0; i < 10; ++i) {
      tasks.push_back(
          env.tasks.start("task." + std::to_string(i), [&order, i](Env&) { order.push_back(i); }));
    }
    join_all(tasks);
  });
  stage.run();
  return order;
}

/// How often others ran before a task that was ready did, for each of `count` times. Two others
/// wake each other for ever.
std::vector<std::uint64_t> overtakings(Seed seed, std::size_t count) {
  std::vector<std::uint64_t> overtaken;
  Stage stage(seed);
  World& world = stage.world;
  stage.add("worker1", [&](Env& env) {
    std::array<Parker*, 3> parkers{};
    std::uint64_t ready_since = 0;
    bool is_ready = false;
    const auto busy = [&](Env& own, std::size_t self, std::size_t other) {
      parkers.at(self) = &own.parker;
      while (true) {
        own.parker.park_until(Instant::never());
        if (!is_ready && parkers[2] != nullptr) {
          is_ready = true;
          ready_since = world.switches();
          parkers[2]->unpark();
        }
        parkers.at(other)->unpark();
      }
    };
    Handles tasks;
    tasks.push_back(env.tasks.start("left", [&](Env& own) { busy(own, 0, 1); }));
    tasks.push_back(env.tasks.start("right", [&](Env& own) { busy(own, 1, 0); }));
    tasks.push_back(env.tasks.start("patient", [&](Env& own) {
      parkers[2] = &own.parker;
      while (overtaken.size() < count) {
        own.parker.park_until(Instant::never());
        overtaken.push_back(world.switches() - ready_since - 1);
        is_ready = false;
      }
      world.stop();
    }));
    env.sleep(1us);
    parkers[0]->unpark();
    join_all(tasks);
  });
  stage.run();
  return overtaken;
}

}  // namespace

TEST_CASE("tasks that are ready run in an order that the seed decides", "[sim][scheduler]") {
  const std::vector<int> fifo{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

  CHECK(order_of_ten({1}) == order_of_ten({1}));
  CHECK(order_of_ten({1}) != order_of_ten({2}));
  CHECK(order_of_ten({1}) != fifo);
  CHECK(std::ranges::is_permutation(order_of_ten({1}), fifo));
}

TEST_CASE("a task of a quiet world waits for others if it is chosen to", "[sim][scheduler]") {
  DrawBook book;
  for (const int task : {2, 7}) {
    book.add({Domain::world, "schedule.rank", "worker1/task." + std::to_string(task) + "/life1", 0,
              0, task == 2 ? std::uint64_t{9} : std::uint64_t{3}});
  }
  CHECK(order_of_ten({1, true, &book}) == std::vector<int>{0, 1, 3, 4, 5, 6, 8, 9, 7, 2});
  CHECK(book.unasked().empty());

  // A book that has nothing to say changes nothing.
  DrawBook empty;
  CHECK(order_of_ten({1, true, &empty}) == order_of_ten({1, true}));
  CHECK(order_of_ten({1, false, &empty}) == order_of_ten({1}));
}

TEST_CASE("tasks that are ready run in the order in which they became so when all is quiet",
          "[sim][scheduler]") {
  CHECK(order_of_ten({1, true}) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("one more task leaves the others in their order", "[sim][scheduler]") {
  const auto order = [](bool with_another) {
    std::vector<int> ran;
    Stage stage;
    stage.add("worker1", [&](Env& env) {
      Handles tasks;
      for (int i = 0; i < 10; ++i) {
        if (with_another && i == 4) tasks.push_back(env.tasks.start("another", [](Env&) {}));
        tasks.push_back(
            env.tasks.start("task." + std::to_string(i), [&ran, i](Env&) { ran.push_back(i); }));
      }
      join_all(tasks);
    });
    stage.run();
    return ran;
  };

  CHECK(order(true) == order(false));
}

TEST_CASE("nobody who is ready is overtaken more than a thousand times", "[sim][scheduler]") {
  const auto overtaken = overtakings({7}, 20'000);

  REQUIRE(overtaken.size() == 20'000);
  CHECK(*std::ranges::max_element(overtaken) == 1000);  // The bound was needed, and it held.
  CHECK(*std::ranges::min_element(overtaken) == 0);
}

TEST_CASE("nobody waits long for others when all is quiet", "[sim][scheduler]") {
  const auto overtaken = overtakings({7, true}, 1'000);

  REQUIRE(overtaken.size() == 1'000);
  CHECK(*std::ranges::max_element(overtaken) <= 1);
}

TEST_CASE("time stands still while any task is ready", "[sim][scheduler]") {
  bool timer_fired = false;
  bool fired_in_between = true;
  Instant end = Instant::never();
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    Channel<int> channel(1);
    channel.bind(env.parker);
    const auto producer = env.tasks.start("producer", [&](Env& own) {
      for (int i = 0; i < 10'000; ++i) channel.put(i, own.parker);
    });
    for (int taken = 0; taken < 10'000;) {
      if (channel.try_take()) {
        ++taken;
      } else {
        env.parker.park_until(Instant::never());
      }
    }
    fired_in_between = timer_fired;
    end = env.now();
    producer->join(Instant::never());
  });
  stage.at({1}, [&] { timer_fired = true; });

  CHECK(stage.run() == World::Ended::idle);
  CHECK(end == Instant{0});
  CHECK_FALSE(fired_in_between);
  CHECK(timer_fired);
}

TEST_CASE("a task wakes exactly at its deadline, whatever it waited for before",
          "[sim][scheduler]") {
  std::vector<Instant> woken;
  std::vector<bool> unparked;
  Parker* parker = nullptr;
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    parker = &env.parker;
    // Each deadline leaves the timer of an earlier wait behind.
    for (const Instant deadline : {at_ms(50), at_ms(20), at_ms(60), at_ms(55), at_ms(70)}) {
      unparked.push_back(env.parker.park_until(deadline));
      woken.push_back(env.now());
    }
  });
  stage.at(at_ms(1), [&] { parker->unpark(); });
  stage.at(at_ms(30), [&] { parker->unpark(); });
  stage.run();

  CHECK(woken == std::vector{at_ms(1), at_ms(20), at_ms(30), at_ms(55), at_ms(70)});
  CHECK(unparked == std::vector{true, false, true, false, false});
}

TEST_CASE("a wake-up during the use of a device is kept for the next wait", "[sim][scheduler]") {
  Timings timings;
  timings.step = {5ms, 5ms};
  Parker* parker = nullptr;
  Instant after_step;
  Instant after_park;
  bool was_unparked = false;
  Stage stage({7}, timings);
  stage.add("worker1", [&](Env& env) {
    parker = &env.parker;
    env.step(pause_site);
    after_step = env.now();
    was_unparked = env.parker.park_until(at_ms(100));
    after_park = env.now();
  });
  stage.at(at_ms(2), [&] { parker->unpark(); });
  stage.run();

  CHECK(after_step == at_ms(5));  // Deaf to it.
  CHECK(after_park == at_ms(5));
  CHECK(was_unparked);
}

TEST_CASE("a step takes as long as the timings say", "[sim][scheduler]") {
  Timings timings;
  timings.step = {10ns, 19ns};
  std::vector<int> counts(30, 0);
  Stage stage({7}, timings);
  stage.add("worker1", [&](Env& env) {
    for (int i = 0; i < 1'000; ++i) {
      const Instant before = env.now();
      env.step(pause_site);
      ++counts.at(static_cast<std::size_t>((env.now() - before).count()));
    }
  });
  stage.run();

  for (std::size_t ns = 0; ns < counts.size(); ++ns) {
    CAPTURE(ns);
    CHECK((counts[ns] > 0) == (ns >= 10 && ns <= 19));
  }
}

TEST_CASE("actions happen at their instants, in order, on the main stack", "[sim][world]") {
  std::vector<std::string> log;
  bool on_main_stack = true;
  Stage stage;
  const auto say = [&](const std::string& what) {
    return [&, what] {
      log.push_back(what + std::to_string(stage.world.now().ns));
      on_main_stack &= stage.world.scheduler().current() == nullptr;
    };
  };
  stage.at({30}, say("c"));
  stage.at({10}, say("a"));
  stage.at({20}, say("first of b"));
  stage.at({20}, say("second of b"));
  stage.at({25}, [&] { stage.at({5}, say("late")); });  // What is past happens at once.

  CHECK(stage.run() == World::Ended::idle);
  CHECK(log == std::vector<std::string>{"a10", "first of b20", "second of b20", "late25", "c30"});
  CHECK(on_main_stack);
}

TEST_CASE("a run ends at its limit and goes on from there", "[sim][world]") {
  std::vector<Instant> fired;
  Stage stage;
  for (const std::int64_t ms : {10, 20, 30}) {
    stage.at(at_ms(ms), [&] { fired.push_back(stage.world.now()); });
  }

  CHECK(stage.run(at_ms(20)) == World::Ended::limit);  // What happens at the limit has happened.
  CHECK(fired == std::vector{at_ms(10), at_ms(20)});
  CHECK(stage.run(at_ms(25)) == World::Ended::limit);
  CHECK(stage.world.now() == at_ms(25));  // Time goes on, though nothing happened.
  CHECK(stage.run(at_ms(100)) == World::Ended::idle);
  CHECK(fired.back() == at_ms(30));
  CHECK(stage.world.now() == at_ms(30));
}

TEST_CASE("a run in which nothing can happen any more is idle", "[sim][world]") {
  Stage stage;
  stage.add("worker1", wait_for_ever);

  CHECK(stage.run(at_ms(10)) == World::Ended::idle);
  CHECK(stage.world.now() == Instant{0});
}

TEST_CASE("a run without a limit ends when nothing can happen any more", "[sim][world]") {
  Stage stage;
  stage.add("worker1", wait_for_ever);

  CHECK(stage.run(Instant::never()) == World::Ended::idle);
}

TEST_CASE("a run that somebody stops ends before anything else happens", "[sim][world]") {
  int steps = 0;
  Stage stage;
  stage.add("worker1", [&](Env& env) {
    while (true) {
      if (++steps == 3) stage.world.stop();
      env.step(pause_site);
    }
  });

  CHECK(stage.run() == World::Ended::stopped);
  CHECK(steps == 3);
  CHECK(stage.run(at_ms(1)) == World::Ended::limit);  // And can go on.
  CHECK(steps > 3);
}

TEST_CASE("a world tells what its tasks are doing", "[sim][world]") {
  Timings timings;
  timings.step = {50ms, 50ms};
  Stage stage({7}, timings);
  const NodeId paused = stage.add("sleepy", [](Env& env) { env.parker.park_until(at_ms(30)); });
  stage.add("patient", wait_for_ever);
  stage.add("busy", [](Env& env) { env.step(pause_site); });
  stage.add("brief", [](Env&) {});
  stage.run(at_ms(1));
  stage.world.pause(paused);

  CHECK(stage.world.describe_tasks() ==
        std::vector<std::string>{
            "sleepy/sleepy/life1 waits to be woken, or until 30 ms, on a node that is paused",
            "patient/patient/life1 waits to be woken", "busy/busy/life1 waits for a device"});
}
