#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "millrace/properties/campaign.hpp"
#include "millrace/properties/experiment.hpp"
#include "millrace/properties/random_job.hpp"

#include "corpus_subject.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr std::uint64_t campaign_seed = 1;
constexpr std::uint64_t records = 1000;
constexpr std::uint64_t runs_per_test = 100;

Case case_at(const Subject& subject, std::uint64_t index) {
  return generate_case(subject, run_seed(campaign_seed, index));
}

/// All that is needed to see a run again: a case for `millrace replay`.
std::string replayable(Case made, const Outcome& outcome) {
  made.expect = outcome.verdict;
  made.trace_hash = outcome.trace_hash;
  std::vector<std::string> comments{
      fmt::format("seed {:013x}: {}", made.seed, to_text(outcome.verdict))};
  for (const Breach& breach : outcome.breaches) {
    comments.push_back(breach.judge + ": " + breach.what);
  }
  if (!outcome.reason.empty()) comments.push_back(outcome.reason);
  for (std::string& comment : comments) std::replace(comment.begin(), comment.end(), '\n', ' ');
  return to_text(made, comments, [](const std::string& origin) { return origin; });
}

/// Runs cases under faults, and tells of every one that does not hold.
class Trial {
 public:
  void hold(const Case& made, const Subject& subject) {
    const Outcome outcome = run_case(made, subject, stacks_);
    publishes_.add(outcome.statistics.publishes);
    fired_ += made.plan.faults.size() - outcome.unfired.size();
    if (outcome.verdict != Verdict::held) FAIL_CHECK(replayable(made, outcome));
  }

  /// How many faults happened.
  std::uint64_t fired() const { return fired_; }
  /// How often a run, at the median, made rows visible.
  std::uint64_t publishes() const { return publishes_.median(); }

 private:
  sim::StackPool stacks_;
  Tally publishes_;
  std::uint64_t fired_ = 0;
};

/// A hundred seeds of a job. Returns how often a run, at the median, made rows visible.
std::uint64_t hold(const std::string& job, std::uint64_t first, SinkMode mode = SinkMode::staged) {
  const Subject subject = tests::corpus_subject(job, records, mode);
  REQUIRE(subject.input.lines() == records);
  Trial trial;
  for (std::uint64_t index = first; index < first + runs_per_test; ++index) {
    trial.hold(case_at(subject, index), subject);
  }
  CHECK(trial.fired() > runs_per_test);  // The storm really came.
  return trial.publishes();
}

constexpr std::uint64_t random_per_test = 500;

/// Five hundred jobs of which each seed draws its own.
void hold_random(std::uint64_t first) {
  Trial trial;
  for (std::uint64_t index = first; index < first + random_per_test; ++index) {
    const std::uint64_t seed = run_seed(campaign_seed, index);
    const RandomJob job = random_job(seed);
    trial.hold(generate_case(job.spec, job.input, seed), Subject(job.spec, job.input));
  }
  CHECK(trial.fired() > random_per_test);
}

}  // namespace

TEST_CASE("quakes holds under faults, seeds 0 to 99", "[simulation]") { hold("quakes", 0); }
TEST_CASE("quakes holds under faults, seeds 100 to 199", "[simulation]") { hold("quakes", 100); }
TEST_CASE("quakes holds under faults, seeds 200 to 299", "[simulation]") { hold("quakes", 200); }

// A job that shows nothing before the end proves little, so there is one that publishes all along.

TEST_CASE("quakes_feed holds under faults, seeds 0 to 99", "[simulation]") {
  CHECK(hold("quakes_feed", 0) >= 3);
}
TEST_CASE("quakes_feed holds under faults, seeds 100 to 199", "[simulation]") {
  CHECK(hold("quakes_feed", 100) >= 3);
}
TEST_CASE("quakes_feed holds under faults, seeds 200 to 299", "[simulation]") {
  CHECK(hold("quakes_feed", 200) >= 3);
}

// Without a window, rows have an order.

TEST_CASE("quakes_strong holds under faults, seeds 0 to 99", "[simulation]") {
  CHECK(hold("quakes_strong", 0) >= 3);
}

// What these jobs have in common, the next have not.

TEST_CASE("random jobs hold under faults, seeds 0 to 499", "[simulation]") { hold_random(0); }
TEST_CASE("random jobs hold under faults, seeds 500 to 999", "[simulation]") { hold_random(500); }
TEST_CASE("random jobs hold under faults, seeds 1000 to 1499", "[simulation]") {
  hold_random(1000);
}
TEST_CASE("random jobs hold under faults, seeds 1500 to 1999", "[simulation]") {
  hold_random(1500);
}
TEST_CASE("random jobs hold under faults, seeds 2000 to 2499", "[simulation]") {
  hold_random(2000);
}
TEST_CASE("random jobs hold under faults, seeds 2500 to 2999", "[simulation]") {
  hold_random(2500);
}

// Two sources, a join and two sinks.

TEST_CASE("after_strong_quakes holds under faults, seeds 0 to 99", "[simulation]") {
  CHECK(hold("after_strong_quakes", 0) >= 3);
}
TEST_CASE("after_strong_quakes holds under faults, seeds 100 to 199", "[simulation]") {
  CHECK(hold("after_strong_quakes", 100, SinkMode::upsert) >= 3);
}

TEST_CASE("an upsert sink holds under faults", "[simulation]") {
  hold("quakes", 300, SinkMode::upsert);
  CHECK(hold("quakes_feed", 300, SinkMode::upsert) >= 3);
}

TEST_CASE("an insert sink is convicted of duplicates, and of nothing else", "[simulation]") {
  const Subject subject = tests::corpus_subject("quakes_feed", records, SinkMode::insert);
  sim::StackPool stacks;
  std::uint64_t duplicated = 0;
  for (std::uint64_t index = 0; index < runs_per_test; ++index) {
    const Outcome outcome = run_case(case_at(subject, index), subject, stacks);
    duplicated += outcome.rows.duplicated;
    CHECK(outcome.rows.lost + outcome.rows.altered + outcome.rows.unexpected == 0);
    CHECK((outcome.verdict == Verdict::breached) == (outcome.rows.duplicated != 0));
  }
  CHECK(duplicated > 100);
}

TEST_CASE("a run is the same whatever ran before it in its process", "[simulation]") {
  const Subject quakes = tests::corpus_subject("quakes", records);
  const Subject feed = tests::corpus_subject("quakes_feed", records);
  constexpr std::uint64_t cases = 10;
  sim::StackPool stacks;
  const auto hash_of = [&](const Subject& subject, std::uint64_t index) {
    return run_case(case_at(subject, index), subject, stacks).trace_hash;
  };
  std::vector<std::uint64_t> of_quakes;
  std::vector<std::uint64_t> of_feed;
  for (std::uint64_t i = 0; i < cases; ++i) of_quakes.push_back(hash_of(quakes, i));
  for (std::uint64_t i = 0; i < cases; ++i) of_feed.push_back(hash_of(feed, i));

  for (std::uint64_t i = cases; i-- > 0;) {
    CAPTURE(i);
    CHECK(hash_of(feed, i) == of_feed[i]);
    CHECK(hash_of(quakes, i) == of_quakes[i]);
  }
  std::vector<std::uint64_t> all = of_quakes;
  all.insert(all.end(), of_feed.begin(), of_feed.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}
