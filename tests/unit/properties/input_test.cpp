#include "millrace/properties/input.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;
using namespace std::chrono_literals;

namespace {

/// A partition of `count` lines: `name 0`, `name 1`, ...
InputPartition numbered(const std::string& name, int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) lines.push_back(name + " " + std::to_string(i));
  return partition_of(name, lines);
}

std::vector<std::uint64_t> lines_of_each(const Input& input) {
  std::vector<std::uint64_t> lines;
  for (const InputPartition& partition : input.partitions) {
    lines.push_back(Input{{partition}}.lines());
  }
  return lines;
}

sim::Arrivals arrivals_of(const Input& input, std::chrono::nanoseconds span, std::uint64_t seed,
                          bool quiet = false) {
  sim::Draws draws(sim::Seed{seed, quiet}, sim::Domain::input, "arrivals");
  return draw_arrivals(input, span, draws);
}

std::int64_t size_of(const InputPartition& partition) {
  return static_cast<std::int64_t>(partition.text.size());
}

/// What arrives of a partition, and when, as a reader finds out.
std::vector<sim::Arrivals::Step> steps_of(const sim::Arrivals& arrivals,
                                          const InputPartition& partition) {
  std::vector<sim::Arrivals::Step> steps;
  Instant now{-1};
  while (true) {
    now = arrivals.next(partition.name, now);
    if (now == Instant::never()) return steps;
    steps.push_back({now, arrivals.visible(partition.name, now, size_of(partition))});
  }
}

const Input three_partitions{
    {numbered("long", 200), numbered("middle", 100), numbered("short", 20)}};

}  // namespace

TEST_CASE("lines are counted, the last one also without a newline", "[properties][input]") {
  CHECK(Input{}.lines() == 0);
  CHECK(Input{{{"a", "", ""}}}.lines() == 0);
  CHECK(Input{{{"a", "x", ""}}}.lines() == 1);
  CHECK(Input{{{"a", "x\n", ""}}}.lines() == 1);
  CHECK(Input{{{"a", "x\ny", ""}}}.lines() == 2);
  CHECK(Input{{{"a", "\n\n", ""}, {"b", "x", ""}}}.lines() == 3);
}

TEST_CASE("the head of an input is spread over its partitions as they are long",
          "[properties][input]") {
  CHECK(lines_of_each(head_of(three_partitions, 32)) == std::vector<std::uint64_t>{20, 10, 2});
  CHECK(lines_of_each(head_of(three_partitions, 160)) == std::vector<std::uint64_t>{100, 50, 10});
  CHECK(head_of(three_partitions, 320) == three_partitions);
  CHECK(head_of(three_partitions, 1'000'000) == three_partitions);
  CHECK(head_of(three_partitions, 0).lines() == 0);
  for (std::uint64_t lines = 0; lines <= 320; ++lines) {
    const Input head = head_of(three_partitions, lines);
    CHECK(head.lines() == lines);
    REQUIRE(head.partitions.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(head.partitions[i].name == three_partitions.partitions[i].name);
      CHECK(three_partitions.partitions[i].text.starts_with(head.partitions[i].text));
    }
  }
}

TEST_CASE("the head of an input knows which files it is of", "[properties][input]") {
  Input whole = three_partitions;
  whole.partitions[0].origin = "data/long";
  const Input head = head_of(whole, 10);

  CHECK(head.partitions[0].origin == "data/long");
  CHECK(head.partitions[1].origin.empty());
}

TEST_CASE("a last line without a newline stays as it is", "[properties][input]") {
  const Input whole{{{"a", "1\n2\n3", ""}, {"b", "4", ""}}};

  CHECK(head_of(whole, 4).partitions[0].text == "1\n2\n3");
  CHECK(head_of(whole, 2).partitions[0].text == "1\n");
  CHECK(head_of(whole, 2).partitions[1].text == "4");
}

TEST_CASE("where an input came from does not make it another", "[properties][input]") {
  CHECK(Input{{{"a", "x\n", "one"}}} == Input{{{"a", "x\n", "two"}}});
  CHECK_FALSE(Input{{{"a", "x\n", ""}}} == Input{{{"b", "x\n", ""}}});
  CHECK_FALSE(Input{{{"a", "x\n", ""}}} == Input{{{"a", "x", ""}}});
}

TEST_CASE("all lines of an input arrive within the span, whole and in order",
          "[properties][arrivals]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const sim::Arrivals arrivals = arrivals_of(three_partitions, 2s, seed);
    Instant last;
    for (const InputPartition& partition : three_partitions.partitions) {
      const auto steps = steps_of(arrivals, partition);
      REQUIRE_FALSE(steps.empty());
      for (std::size_t i = 0; i < steps.size(); ++i) {
        CHECK(steps[i].at >= Instant{0});
        CHECK(steps[i].at <= Instant{} + 2s);
        // Only whole lines.
        REQUIRE(steps[i].offset > 0);
        REQUIRE(steps[i].offset <= size_of(partition));
        CHECK(partition.text[static_cast<std::size_t>(steps[i].offset) - 1] == '\n');
        if (i != 0) CHECK(steps[i].offset > steps[i - 1].offset);
      }
      CHECK(steps.back().offset == size_of(partition));
      last = std::max(last, steps.back().at);
    }
    CHECK(arrivals.last() == last);
  }
}

TEST_CASE("the longest partition takes the most of the span, shorter ones end sooner",
          "[properties][arrivals]") {
  bool filled_the_span = false;
  bool was_fast = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const sim::Arrivals arrivals = arrivals_of(three_partitions, 2s, seed);
    // In proportion to its lines, or up to twice as fast.
    const std::vector<std::chrono::nanoseconds> due{2s, 1s, 200ms};
    for (std::size_t i = 0; i < due.size(); ++i) {
      const Instant end = steps_of(arrivals, three_partitions.partitions[i]).back().at;
      CHECK(end <= Instant{} + due[i]);
      CHECK(end >= Instant{} + due[i] / 2);
    }
    filled_the_span = filled_the_span || arrivals.last() > Instant{} + 1900ms;
    was_fast = was_fast || arrivals.last() < Instant{} + 1100ms;
  }
  CHECK(filled_the_span);
  CHECK(was_fast);
}

TEST_CASE("lines arrive in bursts with pauses between them", "[properties][arrivals]") {
  std::set<std::ptrdiff_t> bursts;
  bool paused = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const InputPartition& partition = three_partitions.partitions[0];
    const auto steps = steps_of(arrivals_of(three_partitions, 2s, seed), partition);
    std::int64_t before = 0;
    Instant at;
    for (const auto& step : steps) {
      bursts.insert(
          std::count(partition.text.begin() + before, partition.text.begin() + step.offset, '\n'));
      paused = paused || step.at - at > 200ms;
      before = step.offset;
      at = step.at;
    }
  }
  CHECK(*bursts.begin() == 1);
  CHECK(*bursts.rbegin() == 15);
  CHECK(paused);
}

TEST_CASE("arrivals are a function of the draws", "[properties][arrivals]") {
  const auto steps = [](std::uint64_t seed) {
    std::vector<std::pair<Instant, std::int64_t>> all;
    for (const InputPartition& partition : three_partitions.partitions) {
      for (const auto& step : steps_of(arrivals_of(three_partitions, 2s, seed), partition)) {
        all.emplace_back(step.at, step.offset);
      }
    }
    return all;
  };
  CHECK(steps(1) == steps(1));
  CHECK_FALSE(steps(1) == steps(2));
}

TEST_CASE("where nothing is left to chance lines arrive one by one, evenly",
          "[properties][arrivals]") {
  const Input input{{numbered("a", 10)}};
  const auto steps = steps_of(arrivals_of(input, 1s, 7, true), input.partitions[0]);

  REQUIRE(steps.size() == 10);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(steps[i].at == Instant{} + (i + 1) * 100ms);
  }
}

TEST_CASE("the smallest inputs arrive, too", "[properties][arrivals]") {
  const Input input{{{"empty", "", ""}, {"one", "x\n", ""}, {"open", "x\ny", ""}}};
  for (const std::chrono::nanoseconds span : {0ns, 1ns, 2ns, 1'000'000'000ns}) {
    CAPTURE(span.count());
    const sim::Arrivals arrivals = arrivals_of(input, span, 3);
    const Instant end = Instant{} + span;
    CHECK(arrivals.visible("empty", Instant{}, 0) == 0);
    CHECK(arrivals.visible("one", end, 2) == 2);
    CHECK(arrivals.visible("open", end, 3) == 3);
    CHECK(arrivals.last() <= end);
  }
}

TEST_CASE("an input that takes a year keeps its proportions", "[properties][arrivals]") {
  const auto span = std::chrono::hours(24 * 365);
  const Input input{{numbered("a", 50), numbered("b", 25)}};
  const sim::Arrivals arrivals = arrivals_of(input, span, 3);

  CHECK(steps_of(arrivals, input.partitions[0]).back().at > Instant{} + span / 3);
  CHECK(steps_of(arrivals, input.partitions[1]).back().at <= Instant{} + span / 2);
}
