#include "millrace/properties/commit_plan.hpp"

#include <set>
#include <string>
#include <variant>

#include <catch2/catch.hpp>

#include "millrace/runtime/landmarks.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr std::uint64_t seeds = 200;

faults::Plan plan_of(std::uint64_t seed, CommitHalf half, CommitVictim victim,
                     SinkMode mode = SinkMode::staged) {
  sim::Draws draws(sim::Seed{seed}, sim::Domain::plan, "test");
  return commit_plan(half, victim, mode, {.workers = 3, .parallelism = 2}, draws);
}

/// Where the first faults of all plans of a half strike.
std::set<std::string> places_of(CommitHalf half, SinkMode mode) {
  std::set<std::string> places;
  for (const CommitVictim victim : commit_victims) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const faults::Plan plan = plan_of(seed, half, victim, mode);
      places.insert(std::get<Anchor>(moment_of(plan.faults.front())).landmark);
    }
  }
  return places;
}

}  // namespace

TEST_CASE("a commit plan strikes in its half, in every place of it", "[commit_plan]") {
  CHECK(places_of(CommitHalf::staged_decided, SinkMode::staged) ==
        std::set<std::string>{"sink_staged", "sink_acknowledged", "manifest_begun",
                              "manifest_written", "head_swap_begun"});
  CHECK(places_of(CommitHalf::decided_published, SinkMode::staged) ==
        std::set<std::string>{"head_swapped", "publish_begun", "publish_loaded", "publish_sent"});
}

TEST_CASE("a sink that is not staged is struck where it has rows that are not decided",
          "[commit_plan]") {
  CHECK(places_of(CommitHalf::staged_decided, SinkMode::insert) ==
        std::set<std::string>{"rows_written", "acknowledged", "manifest_begun", "manifest_written",
                              "head_swap_begun"});
  CHECK(places_of(CommitHalf::decided_published, SinkMode::upsert) ==
        std::set<std::string>{"head_swapped", "publish_begun", "publish_sent"});
}

TEST_CASE("a commit plan is about a checkpoint, never about a takeover alone", "[commit_plan]") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    for (const CommitVictim victim : commit_victims) {
      const auto plan = plan_of(seed, CommitHalf::decided_published, victim);
      const auto& anchor = std::get<Anchor>(moment_of(plan.faults.front()));
      REQUIRE(anchor.n.has_value());
      CHECK(*anchor.n >= 1);
    }
  }
}

TEST_CASE("whom a commit plan strikes", "[commit_plan]") {
  std::set<std::string> kinds;
  for (const CommitHalf half : commit_halves) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      CHECK(node_of(plan_of(seed, half, CommitVictim::database).faults[0]) == "database");
      CHECK(node_of(plan_of(seed, half, CommitVictim::store).faults[0]) == "store");
      CHECK(node_of(plan_of(seed, half, CommitVictim::coordinator).faults[0]) == "here");
      CHECK(node_of(plan_of(seed, half, CommitVictim::worker).faults[0]).starts_with("worker"));

      const auto two = plan_of(seed, half, CommitVictim::two);
      REQUIRE(two.faults.size() == 2);
      CHECK(std::holds_alternative<faults::After>(moment_of(two.faults[1])));

      const auto zombie = plan_of(seed, half, CommitVictim::zombie);
      REQUIRE(zombie.faults.size() == 1);
      CHECK(std::holds_alternative<faults::Pause>(zombie.faults[0]));

      const auto recovery = plan_of(seed, half, CommitVictim::recovery);
      REQUIRE(recovery.faults.size() == 2);
      CHECK(std::get<Anchor>(moment_of(recovery.faults[1])).term == 2);

      for (const auto& plan : {two, zombie, recovery}) {
        for (const faults::Fault& fault : plan.faults) {
          kinds.insert(std::string(kind_of(fault)));
          CHECK(faults::parse_fault(to_text(fault)) == fault);
        }
      }
    }
  }
  CHECK(kinds == std::set<std::string>{"kill", "power_loss", "pause"});
}
