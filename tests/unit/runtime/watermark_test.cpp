#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

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
