#include <algorithm>
#include <fstream>
#include <string>

#include <rapidcheck/catch.h>

#include "millrace/properties/commit_plan.hpp"
#include "millrace/properties/experiment.hpp"
#include "millrace/properties/random_job.hpp"
#include "millrace/runtime/landmarks.hpp"

#include "any_seed.hpp"
#include "kept_case.hpp"

// Exactly-once is won or lost between pre-commit and commit: so every plan here strikes there.

using namespace millrace;
using namespace millrace::properties;
using Catch::Contains;

namespace {

/// What the runs of a property came to, so that silence means something.
struct Tried {
  std::uint64_t runs = 0;
  std::uint64_t struck = 0;    ///< The plan's first fault did happen.
  std::uint64_t restored = 0;  ///< And the job had to be taken over.
  RowCounts rows;              ///< Sums.
};

Case draw_case(CommitHalf half, CommitVictim victim, SinkMode mode) {
  const std::uint64_t seed = any_seed();
  const RandomJob job =
      random_job(seed, {.records = *rc::gen::inRange<std::uint64_t>(40, 200), .mode = mode});
  Case made = generate_case(job, seed);
  sim::Draws draws(sim::Seed{seed}, sim::Domain::plan, "commit_plan");
  made.plan = commit_plan(half, victim, mode, made.cluster, draws);
  return made;
}

void count(const Case& made, const Outcome& outcome, Tried& tried) {
  const std::string first = to_text(made.plan.faults.front());
  const auto& unfired = outcome.unfired;
  ++tried.runs;
  if (std::find(unfired.begin(), unfired.end(), first) == unfired.end()) ++tried.struck;
  if (outcome.statistics.times(landmarks::took_over) > 1) ++tried.restored;
  tried.rows.lost += outcome.rows.lost;
  tried.rows.duplicated += outcome.rows.duplicated;
  tried.rows.altered += outcome.rows.altered;
  tried.rows.unexpected += outcome.rows.unexpected;
}

/// The property: whoever is struck, each row is visible once. With other sinks, what they promise.
void expect_held(CommitHalf half, CommitVictim victim, SinkMode mode, Tried& tried) {
  const Case made = draw_case(half, victim, mode);
  sim::StackPool stacks;
  const Outcome outcome = run_case(made, Subject(made.job, made.input), stacks);
  count(made, outcome, tried);
  if (outcome.verdict != Verdict::held) RC_FAIL(keep(made, outcome));
}

void expect_held_whoever_is_struck(SinkMode mode) {
  for (const CommitHalf half : commit_halves) {
    Tried in_half;
    for (const CommitVictim victim : commit_victims) {
      Tried tried;
      rc::prop(std::string(to_text(half)) + ": " + std::string(to_text(victim)),
               [&] { expect_held(half, victim, mode, tried); });
      in_half.runs += tried.runs;
      in_half.struck += tried.struck;
      in_half.restored += tried.restored;
    }
    // Sections run one at a time, so this is about the one that has just run.
    CAPTURE(to_text(half), in_half.runs, in_half.struck, in_half.restored);
    CHECK(in_half.struck * 2 >= in_half.runs);
  }
}

}  // namespace

TEST_CASE("whoever is struck between pre-commit and commit, a staged sink shows each row once",
          "[properties]") {
  expect_held_whoever_is_struck(SinkMode::staged);
}

TEST_CASE("whoever is struck between pre-commit and commit, an upsert sink shows each row once",
          "[properties]") {
  expect_held_whoever_is_struck(SinkMode::upsert);
}

TEST_CASE("the same property convicts an insert sink of duplicates, and leaves a case to replay",
          "[properties]") {
  for (const CommitHalf half : commit_halves) {
    Tried tried;
    const auto result = rc::detail::checkTestable(
        [&] { expect_held(half, CommitVictim::writer, SinkMode::insert, tried); });
    REQUIRE(result.is<rc::detail::FailureResult>());
    CHECK(tried.rows.duplicated > 0);
    CHECK(tried.rows.lost + tried.rows.altered + tried.rows.unexpected == 0);

    const std::string said = result.get<rc::detail::FailureResult>().description;
    constexpr std::string_view command = "millrace replay ";
    REQUIRE_THAT(said, Contains(std::string(command)));
    std::string path = said.substr(said.rfind(command) + command.size());
    path.erase(std::min(path.find('\n'), path.size()));
    CHECK(std::ifstream(path).good());
  }
}
