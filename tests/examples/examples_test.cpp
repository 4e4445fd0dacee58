#include <catch2/catch.hpp>

#include "millrace/properties/experiment.hpp"

#include "example_jobs.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr std::uint64_t records = 400;

/// The runs of a job under faults, until one does not hold.
Outcome first_that_fails(const UserJob& job, std::uint64_t most_runs) {
  const Subject subject(job, job.sample(records));
  sim::StackPool stacks;
  Outcome outcome;
  for (std::uint64_t i = 0; i < most_runs && outcome.verdict == Verdict::held; ++i) {
    outcome = run_case(generate_case(subject, run_seed(1, i)), subject, stacks);
  }
  return outcome;
}

bool is_convicted_by(const Outcome& outcome, const std::string& judge, const std::string& name) {
  for (const Breach& breach : outcome.breaches) {
    if (breach.judge == judge && breach.what.find("`" + name + "`") != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("a job in C++ holds under faults, against its own calm run", "[examples]") {
  const Outcome outcome = first_that_fails(examples::totals(), 40);
  INFO((outcome.breaches.empty() ? outcome.reason : outcome.breaches[0].what));
  CHECK(outcome.verdict == Verdict::held);
}

TEST_CASE("a function that draws at random is convicted by its operator's name", "[examples]") {
  const Outcome outcome = first_that_fails(examples::lottery(), 40);
  CHECK(outcome.verdict == Verdict::breached);
  CHECK(is_convicted_by(outcome, "functions", "bonus"));
}

TEST_CASE("a function that remembers outside of its state is convicted", "[examples]") {
  const Outcome outcome = first_that_fails(examples::memory(), 40);
  CHECK(outcome.verdict == Verdict::breached);
  CHECK(is_convicted_by(outcome, "functions", "sequel"));
}

TEST_CASE("an effect without a key is done twice, and convicted", "[examples]") {
  const Outcome outcome = first_that_fails(examples::mails(), 40);
  CHECK(outcome.verdict == Verdict::breached);
  CHECK(is_convicted_by(outcome, "effects", "notify"));
}

TEST_CASE("an effect under a key of its own may be asked for twice", "[examples]") {
  const Outcome outcome = first_that_fails(examples::keyed_mails(), 40);
  INFO((outcome.breaches.empty() ? outcome.reason : outcome.breaches[0].what));
  CHECK(outcome.verdict == Verdict::held);
}

TEST_CASE("one key for two effects is convicted without any fault", "[examples]") {
  const Outcome outcome = first_that_fails(examples::mixed_mails(), 1);
  CHECK(is_convicted_by(outcome, "effects", "notify"));
}

TEST_CASE("a job whose result depends on the interleaving is told so, and its rows are not judged",
          "[examples]") {
  const UserJob job = examples::first_come();
  const Subject subject(job, job.sample(records));
  REQUIRE(subject.interleaving);
  REQUIRE(subject.differing_seed);
  CHECK(subject.interleaving->find("table notes: without faults") == 0);

  sim::StackPool stacks;
  const Outcome calm = run_case(calm_case(subject, *subject.differing_seed), subject, stacks);
  CHECK(calm.verdict == Verdict::breached);
  REQUIRE_FALSE(calm.breaches.empty());
  CHECK(calm.breaches[0].judge == "interleaving");

  CHECK(first_that_fails(job, 20).verdict == Verdict::held);
}

TEST_CASE("a record that a function cannot stand ends the job when it has met it three times",
          "[examples]") {
  const UserJob job = examples::poison();
  std::string why;
  try {
    const Subject subject(job, job.sample(records));
  } catch (const JobFailed& failed) {
    why = failed.what();
  }
  CHECK(why.find("poison, without any fault: failed (delicate: the function failed at key `") == 0);
  CHECK(why.find("this is not to be borne (3 times)") != std::string::npos);
}
