#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/time/idleness.hpp"
#include "millrace/runtime/time/partition_clock.hpp"
#include "millrace/runtime/time/valve.hpp"

#include "draws.hpp"

using namespace millrace;

namespace {

std::optional<EventTime> risen(Valve& valve, int input, EventTime watermark) {
  const ValveAction action = valve.advance(input, watermark);
  CHECK_FALSE(action.idle);
  return action.watermark;
}

}  // namespace

TEST_CASE("a partition's watermark is its newest record less the disorder less one",
          "[runtime][watermark]") {
  PartitionClock clock(disorder(Duration{10}), EventTime::min(), false);

  CHECK(clock.watermark() == EventTime::min());  // Nothing is known before the first record.
  clock.observe({100});
  CHECK(clock.watermark() == EventTime{89});
  clock.observe({99});  // Out of order, and within bounds: it takes nothing back.
  CHECK(clock.watermark() == EventTime{89});
  clock.observe({100});
  CHECK(clock.watermark() == EventTime{89});
  clock.observe({101});
  CHECK(clock.watermark() == EventTime{90});
}

TEST_CASE("without disorder a record as old as the newest is still on time",
          "[runtime][watermark]") {
  PartitionClock clock;
  clock.observe({100});

  CHECK(clock.watermark() == EventTime{99});
}

TEST_CASE("a partition's watermark knows times before 1970 and at both ends of the calendar",
          "[runtime][watermark]") {
  const Disorder longest = disorder(std::chrono::hours(24) * 100'000);
  PartitionClock clock(longest, EventTime::min(), false);

  clock.observe(earliest_event_time);
  CHECK(clock.watermark() == earliest_event_time - longest.at_most - Duration{1});
  clock.observe(latest_event_time);
  CHECK(clock.watermark() == latest_event_time - longest.at_most - Duration{1});
}

TEST_CASE("the end of a partition is the largest watermark, with or without records",
          "[runtime][watermark]") {
  PartitionClock empty;
  empty.end();
  CHECK(empty.watermark() == EventTime::max());
  CHECK(empty.newest() == EventTime::min());

  PartitionClock clock(disorder(Duration{10}), {100}, false);
  CHECK_FALSE(clock.has_ended());
  clock.end();
  CHECK(clock.has_ended());
  CHECK(clock.watermark() == EventTime::max());
  CHECK(clock.newest() == EventTime{100});
}

TEST_CASE("a partition's clock goes on where a checkpoint left it", "[runtime][watermark]") {
  PartitionClock before(disorder(Duration{10}), EventTime::min(), false);
  before.observe({100});

  PartitionClock after(disorder(Duration{10}), before.newest(), before.has_ended());
  CHECK(after.watermark() == before.watermark());
  after.observe({95});
  CHECK(after.watermark() == before.watermark());

  const PartitionClock ended(disorder(Duration{10}), {100}, true);
  CHECK(ended.watermark() == EventTime::max());
}

TEST_CASE("a valve lets through the smallest of its lanes' watermarks", "[runtime][watermark]") {
  Valve valve(3);

  CHECK(risen(valve, 0, {10}) == std::nullopt);
  CHECK(risen(valve, 1, {20}) == std::nullopt);
  CHECK(risen(valve, 2, {5}) == EventTime{5});
  CHECK(risen(valve, 2, {9}) == EventTime{9});
  CHECK(risen(valve, 2, {10}) == EventTime{10});
  CHECK(risen(valve, 2, {11}) == std::nullopt);  // Lane 0 is still at 10.
  CHECK(risen(valve, 0, {30}) == EventTime{11});
}

TEST_CASE("a valve passes over a watermark that does not rise", "[runtime][watermark]") {
  Valve valve(1);

  CHECK(risen(valve, 0, {10}) == EventTime{10});
  CHECK(risen(valve, 0, {9}) == std::nullopt);
  CHECK(risen(valve, 0, {10}) == std::nullopt);
  CHECK(risen(valve, 0, EventTime::min()) == std::nullopt);
  CHECK(risen(valve, 0, {11}) == EventTime{11});
}

TEST_CASE("a lane that went back still counts with its newest watermark", "[runtime][watermark]") {
  Valve valve(2);
  valve.advance(0, {10});
  valve.advance(0, {3});

  CHECK(risen(valve, 1, {20}) == EventTime{10});
}

TEST_CASE("a valve passes the end of input on when the last lane has ended",
          "[runtime][watermark]") {
  Valve valve(2);

  CHECK(risen(valve, 0, EventTime::max()) == std::nullopt);
  CHECK(risen(valve, 1, {7}) == EventTime{7});
  CHECK(risen(valve, 1, EventTime::max()) == EventTime::max());
}

TEST_CASE("whatever comes, a valve is the minimum over lanes of the maximum that came",
          "[runtime][watermark]") {
  Draws draws(17);
  for (int run = 0; run < 200; ++run) {
    const int lanes = 1 + static_cast<int>(draws.below(4));
    Valve valve(lanes);
    std::vector<EventTime> newest(static_cast<std::size_t>(lanes), EventTime::min());
    EventTime said = EventTime::min();
    for (int i = 0; i < 60; ++i) {
      const auto lane = draws.below(static_cast<std::uint64_t>(lanes));
      const EventTime time{static_cast<std::int64_t>(draws.below(40)) - 20};
      newest[lane] = std::max(newest[lane], time);
      const EventTime smallest = *std::min_element(newest.begin(), newest.end());
      const auto expected = smallest > said ? std::optional(smallest) : std::nullopt;

      const auto merged = risen(valve, static_cast<int>(lane), time);

      REQUIRE(merged == expected);
      if (merged) said = *merged;
    }
  }
}

namespace {

using Action = ValveAction;
constexpr auto none = std::nullopt;

}  // namespace

TEST_CASE("an idle input holds nobody back", "[runtime][watermark]") {
  Valve valve(3);
  valve.advance(0, {10});
  valve.advance(1, {20});
  valve.advance(2, {30});
  CHECK(valve.merged() == EventTime{10});

  CHECK(valve.set_idle(0) == Action{EventTime{20}, none});
  CHECK(valve.set_idle(0) == Action{});  // It was.
  CHECK(valve.advance(1, {25}) == Action{EventTime{25}, none});
  CHECK(valve.set_idle(2) == Action{});  // It did not hold anybody back.
}

TEST_CASE("an input that knows nothing yet may be idle from the start", "[runtime][watermark]") {
  Valve valve(2);
  CHECK(valve.advance(1, {20}) == Action{});
  CHECK(valve.set_idle(0) == Action{EventTime{20}, none});
}

TEST_CASE("when the last input falls idle and held back, the largest watermark goes first",
          "[runtime][watermark]") {
  Valve valve(2);
  valve.advance(0, {10});
  valve.advance(1, {30});
  valve.set_idle(1);

  CHECK(valve.set_idle(0) == Action{EventTime{30}, true});
  CHECK(valve.is_idle());
}

TEST_CASE("when the last input falls idle and held nobody back, nothing is known beyond it",
          "[runtime][watermark]") {
  Valve valve(2);
  valve.advance(0, {10});
  valve.advance(1, {30});
  CHECK(valve.set_idle(0) == Action{EventTime{30}, none});
  valve.wake(0);  // Behind: it has not caught up.

  CHECK(valve.set_idle(1) == Action{});  // Input 0 is active, and does not count.
  CHECK(valve.set_idle(0) == Action{none, true});
}

TEST_CASE("an input that wakes counts when it has caught up, at -1, 0 and +1",
          "[runtime][watermark]") {
  for (const std::int64_t offset : {-1, 0, 1}) {
    Valve valve(2);
    valve.advance(0, {10});
    valve.advance(1, {20});
    valve.set_idle(0);
    REQUIRE(valve.merged() == EventTime{20});

    CHECK(valve.advance(0, {20 + offset}).watermark == none);
    // Behind, it holds nobody back; abreast or ahead it does again.
    const auto risen = valve.advance(1, {40}).watermark;
    CHECK(risen == (offset < 0    ? std::optional(EventTime{40})
                    : offset == 0 ? std::nullopt
                                  : std::optional(EventTime{21})));
  }
}

TEST_CASE("rows wake an input, and all that were idle are active again", "[runtime][watermark]") {
  Valve valve(2);
  valve.advance(0, {10});
  valve.advance(1, {10});
  valve.set_idle(0);
  REQUIRE(valve.set_idle(1).idle == true);

  CHECK(valve.wake(1) == Action{none, false});
  CHECK(valve.wake(1) == Action{});
  CHECK(valve.wake(0) == Action{});
  CHECK_FALSE(valve.is_idle());
}

TEST_CASE("the end of input goes through when all have ended, not when the rest is idle",
          "[runtime][watermark]") {
  Valve valve(2);
  valve.advance(0, {10});
  valve.advance(1, {5});
  CHECK(valve.set_idle(1) == Action{EventTime{10}, none});
  CHECK(valve.advance(0, EventTime::max()) == Action{none, true});
  CHECK(valve.advance(1, {50}) == Action{EventTime{50}, false});
  CHECK(valve.advance(1, EventTime::max()) == Action{EventTime::max(), none});
}

TEST_CASE("an input may end while it is idle", "[runtime][watermark]") {
  Valve valve(2);
  valve.set_idle(0);
  valve.set_idle(1);
  CHECK(valve.advance(0, EventTime::max()) == Action{});
  CHECK(valve.advance(1, EventTime::max()) == Action{EventTime::max(), false});
}

TEST_CASE("whatever comes, a valve only rises, and never to the end before the end",
          "[runtime][watermark]") {
  Draws draws(23);
  for (int run = 0; run < 300; ++run) {
    const int inputs = 1 + static_cast<int>(draws.below(4));
    Valve valve(inputs);
    std::vector<bool> ended(static_cast<std::size_t>(inputs));
    std::vector<EventTime> newest(static_cast<std::size_t>(inputs), EventTime::min());
    std::vector<bool> idle(static_cast<std::size_t>(inputs));
    EventTime said = EventTime::min();
    for (int i = 0; i < 80; ++i) {
      const auto input = draws.below(static_cast<std::uint64_t>(inputs));
      if (ended[input]) continue;
      Action action;
      switch (draws.below(6)) {
        case 0:
          action = valve.set_idle(static_cast<int>(input));
          idle[input] = true;
          break;
        case 1:
          action = valve.wake(static_cast<int>(input));
          idle[input] = false;
          break;
        case 2:
          if (draws.below(8) != 0) break;
          action = valve.advance(static_cast<int>(input), EventTime::max());
          newest[input] = EventTime::max();
          idle[input] = false;
          ended[input] = true;
          break;
        default: {
          const EventTime time{static_cast<std::int64_t>(draws.below(100))};
          action = valve.advance(static_cast<int>(input), time);
          newest[input] = std::max(newest[input], time);
          idle[input] = false;
        }
      }
      if (action.watermark) {
        REQUIRE(*action.watermark > said);
        said = *action.watermark;
      }
      const auto all = [&](auto holds) {
        for (std::size_t one = 0; one < newest.size(); ++one) {
          if (!holds(one)) return false;
        }
        return true;
      };
      // Never ahead of what anybody has said, and at the end only when all are.
      REQUIRE(said <= *std::max_element(newest.begin(), newest.end()));
      REQUIRE((said == EventTime::max()) == all([&](std::size_t one) { return ended[one]; }));
      const bool some_ended_all = all([&](std::size_t one) { return ended[one]; });
      REQUIRE(valve.is_idle() ==
              (!some_ended_all && all([&](std::size_t one) { return ended[one] || idle[one]; })));
    }
  }
}

TEST_CASE("a partition is idle after it was waited for longer than the span, and not at it",
          "[runtime][watermark]") {
  using Span = Idleness::Span;
  Idleness idleness(Span{100});
  CHECK(idleness.patience() == Span{101});
  idleness.wait(Span{99});
  CHECK_FALSE(idleness.is_idle());
  idleness.wait(Span{1});
  CHECK_FALSE(idleness.is_idle());
  CHECK(idleness.patience() == Span{1});
  idleness.wait(Span{1});
  CHECK(idleness.is_idle());
  CHECK(idleness.patience() == std::nullopt);
  idleness.observe();
  CHECK_FALSE(idleness.is_idle());
  CHECK(idleness.patience() == Span{101});

  Idleness never;
  never.wait(std::chrono::hours(1));
  CHECK_FALSE(never.is_idle());
  CHECK(never.patience() == std::nullopt);
}
