#include "millrace/runtime/state/alarms.hpp"

#include <limits>
#include <optional>

#include <catch2/catch.hpp>

#include "draws.hpp"

using namespace millrace;

namespace {

using Alarms = AlarmIndex<int>;
using Due = std::pair<std::int64_t, int>;

std::vector<Due> taken(Alarms& alarms, std::int64_t time) {
  std::vector<Alarms::Due> due;
  alarms.take(time, due);
  std::vector<Due> pairs;
  for (const Alarms::Due& one : due) pairs.emplace_back(one.when, one.key);
  return pairs;
}

std::int64_t earliest_of(const std::vector<Due>& sorted) {
  return sorted.empty() ? std::numeric_limits<std::int64_t>::max() : sorted.front().first;
}

constexpr auto never = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("an alarm is due at its time, not before, and once", "[runtime][alarms]") {
  for (const std::int64_t when :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{127}, std::int64_t{128}, std::int64_t{129},
        std::int64_t{-1}, std::int64_t{-128}, std::int64_t{-129}, never, never - 1}) {
    CAPTURE(when);
    Alarms alarms;
    alarms.add(when, 7);
    CHECK(taken(alarms, when - 1).empty());
    CHECK(taken(alarms, when) == std::vector<Due>{{when, 7}});
    CHECK(taken(alarms, never).empty());
    CHECK(alarms.empty());
  }
}

TEST_CASE("alarms come earliest first, and equal ones as they were added", "[runtime][alarms]") {
  Alarms alarms;
  alarms.add(500, 1);
  alarms.add(3, 2);
  alarms.add(2, 3);
  alarms.add(3, 4);
  alarms.add(500, 5);
  alarms.add(501, 6);
  alarms.add(2, 7);

  CHECK(taken(alarms, 500) == std::vector<Due>{{2, 3}, {2, 7}, {3, 2}, {3, 4}, {500, 1}, {500, 5}});
  CHECK(taken(alarms, 501) == std::vector<Due>{{501, 6}});
}

TEST_CASE("the earliest alarm is told", "[runtime][alarms]") {
  Alarms alarms;
  CHECK(alarms.earliest() == never);
  CHECK_FALSE(alarms.any_before(never));
  for (const std::int64_t when : {1'000, 300, 299, -5}) {
    alarms.add(when, 1);
    alarms.add(when + 1, 2);
    CHECK(alarms.earliest() == when);
    CHECK(alarms.any_before(when));
    CHECK_FALSE(alarms.any_before(when - 128));
  }
}

TEST_CASE("whatever is added and taken, alarms come as a sorted list would give them",
          "[runtime][alarms]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    Alarms alarms;
    std::vector<Due> listed;
    std::int64_t now = -700;
    const std::uint64_t between = seed % 2 == 0 ? 5 : 150;  // Few and many to a bucket.
    for (int i = 0; i < 2'000; ++i) {
      if (!draws.one_in(between)) {
        const Due due{now + static_cast<std::int64_t>(draws.below(600)), i};
        alarms.add(due.first, due.second);
        listed.push_back(due);
        continue;
      }
      now += static_cast<std::int64_t>(draws.below(200));
      std::stable_sort(listed.begin(), listed.end(),
                       [](const Due& a, const Due& b) { return a.first < b.first; });
      std::vector<Due> expected;
      while (!listed.empty() && listed.front().first <= now) {
        expected.push_back(listed.front());
        listed.erase(listed.begin());
      }
      if (!expected.empty()) CHECK(alarms.any_before(now));
      CHECK(alarms.earliest() == (expected.empty() ? earliest_of(listed) : expected.front().first));
      CHECK(taken(alarms, now) == expected);
      CHECK(alarms.earliest() == earliest_of(listed));
      CHECK(alarms.empty() == listed.empty());
    }
  }
}
