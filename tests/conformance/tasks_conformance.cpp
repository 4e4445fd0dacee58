#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/channel.hpp"
#include "millrace/env/error.hpp"

#include "worlds.hpp"

using namespace millrace;
using namespace std::chrono_literals;
using millrace::conformance::in_every_world;

namespace {

const Site pause_site("conformance.pause");

/// Parks for ever, again and again: only its cancellation ends it.
void park_for_ever(Env& env) {
  while (true) env.parker.park_until(Instant::never());
}

/// What a task that is cancelled sees of it.
enum class Seen { nothing, cancelled };

template <class Call>
Seen outcome_of(Call call) {
  try {
    call();
  } catch (const Cancelled&) {
    return Seen::cancelled;
  }
  return Seen::nothing;
}

}  // namespace

TEST_CASE("a wake-up before the park is latched, once", "[conformance][parker]") {
  in_every_world([](Env& env) {
    env.parker.unpark();
    env.parker.unpark();

    CHECK(env.parker.park_until(Instant::never()));
    const Instant deadline = env.in(2ms);
    CHECK_FALSE(env.parker.park_until(deadline));
    CHECK(env.now() >= deadline);
  });
}

TEST_CASE("a park whose deadline has passed returns at once and keeps no wake-up",
          "[conformance][parker]") {
  in_every_world([](Env& env) {
    CHECK_FALSE(env.parker.park_until(env.now()));
    env.parker.unpark();
    CHECK(env.parker.park_until(env.now()));
    CHECK_FALSE(env.parker.park_until(env.now()));
  });
}

TEST_CASE("a task is woken by another", "[conformance][parker]") {
  in_every_world([](Env& env) {
    bool woken = false;
    Channel<Parker*> to_wake(1);
    to_wake.bind(env.parker);
    const auto sleeper = env.tasks.start("sleeper", [&](Env& own) {
      to_wake.put(&own.parker, own.parker);
      woken = own.parker.park_until(Instant::never());
    });
    std::optional<Parker*> other;
    while (!(other = to_wake.try_take())) env.parker.park_until(Instant::never());

    (*other)->unpark();

    REQUIRE(sleeper->join(Instant::never()));
    CHECK(woken);
  });
}

TEST_CASE("a task has an environment of its own", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    std::string node;
    std::string role;
    const Parker* parker = nullptr;
    const auto task = env.tasks.start("window.1", [&](Env& own) {
      node = own.node;
      role = own.role;
      parker = &own.parker;
      own.step(pause_site);
    });

    REQUIRE(task->join(Instant::never()));

    CHECK(node == env.node);
    CHECK(role == "window.1");
    CHECK(parker != &env.parker);
    CHECK(task->join(env.now()));  // Asking again is answered again.
  });
}

TEST_CASE("a role is free again once its task was joined", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    int runs = 0;
    for (int i = 0; i < 3; ++i) {
      const auto task = env.tasks.start("window.1", [&](Env&) { ++runs; });
      REQUIRE(task->join(Instant::never()));
    }

    CHECK(runs == 3);
  });
}

TEST_CASE("joining with a deadline tells whether the task has ended", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    const auto task = env.tasks.start("sleeper", park_for_ever);

    CHECK_FALSE(task->join(env.now()));
    CHECK_FALSE(task->join(env.in(2ms)));
    task->cancel();
    CHECK(task->join(Instant::never()));
  });
}

TEST_CASE("looking whether a task has ended takes no wake-up away", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    const auto task = env.tasks.start("sleeper", park_for_ever);
    env.parker.unpark();

    CHECK_FALSE(task->join(env.now()));
    CHECK_FALSE(task->join(env.in(2ms)));

    CHECK(env.parker.park_until(env.now()));
    task->cancel();
    task->join(Instant::never());
  });
}

TEST_CASE("the end of a task wakes the task that started it", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    const auto task = env.tasks.start("short", [](Env& own) { own.step(pause_site); });

    while (!task->join(env.now())) env.parker.park_until(Instant::never());

    SUCCEED("a wake-up that does not come would leave the test parked for ever");
  });
}

TEST_CASE("a cancelled task is told by its present and every later call", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    std::vector<Seen> seen;
    const auto task = env.tasks.start("sleeper", [&](Env& own) {
      seen.push_back(outcome_of([&] { own.parker.park_until(Instant::never()); }));
      seen.push_back(outcome_of([&] { own.parker.park_until(own.in(1h)); }));
      seen.push_back(outcome_of([&] { own.step(pause_site); }));
      seen.push_back(outcome_of([&] { own.sleep(1h); }));
      own.parker.unpark();
      seen.push_back(outcome_of([&] { own.parker.park_until(Instant::never()); }));
    });

    task->cancel();

    REQUIRE(task->join(Instant::never()));
    CHECK(seen == std::vector<Seen>(5, Seen::cancelled));
  });
}

TEST_CASE("a task that waits for another one can be cancelled", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    Seen seen = Seen::nothing;
    const auto outer = env.tasks.start("outer", [&](Env& own) {
      const auto inner = own.tasks.start("inner", park_for_ever);
      seen = outcome_of([&] { inner->join(Instant::never()); });
      throw Cancelled{};  // And `inner` ends with its handle.
    });

    outer->cancel();

    CHECK(outer->join(Instant::never()));
    CHECK(seen == Seen::cancelled);
  });
}

TEST_CASE("a task ends with its handle", "[conformance][tasks]") {
  in_every_world([](Env& env) {
    Channel<int> started(1);
    started.bind(env.parker);
    {
      const auto task = env.tasks.start("sleeper", [&](Env& own) {
        started.put(1, own.parker);
        park_for_ever(own);
      });
      while (!started.try_take()) env.parker.park_until(Instant::never());
    }

    // Its role is free, at the latest after a moment.
    env.sleep(1ms);
    const auto task = env.tasks.start("sleeper", [](Env&) {});
    CHECK(task->join(Instant::never()));
  });
}
