#include <set>

#include <catch2/catch.hpp>

#include "worlds.hpp"

using namespace millrace;
using namespace std::chrono_literals;
using millrace::conformance::in_every_world;

TEST_CASE("a clock never goes back", "[conformance][clock]") {
  in_every_world([](Env& env) {
    Instant last = env.now();
    bool went_back = false;
    for (int i = 0; i < 1'000; ++i) {
      const Instant now = env.now();
      went_back |= now < last;
      last = now;
    }

    CHECK_FALSE(went_back);
  });
}

TEST_CASE("a task that sleeps wakes no earlier than it asked for", "[conformance][clock]") {
  in_every_world([](Env& env) {
    const Instant end = env.in(5ms);
    env.parker.unpark();  // A wake-up that was meant for something else does not shorten it.

    env.sleep(5ms);

    CHECK(env.now() >= end);
  });
}

TEST_CASE("a wall clock tells a date that a record could carry", "[conformance][clock]") {
  in_every_world([](Env& env) {
    const EventTime date = env.clock.wall();

    CHECK(date > earliest_event_time);
    CHECK(date < latest_event_time);
  });
}

TEST_CASE("chance stays below its bound and reaches all that is below", "[conformance][chance]") {
  in_every_world([](Env& env) {
    const Site site("conformance.below");
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1'000; ++i) seen.insert(env.chance.below(site, 5));

    CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4});
    CHECK(env.chance.below(site, 1) == 0);
    for (int i = 0; i < 100; ++i) seen.insert(env.chance.explore(site, 5));
    CHECK(seen.size() == 5);
  });
}
