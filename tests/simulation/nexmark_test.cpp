// The queries of Nexmark under faults: rows come from joins, windows of every kind, alarms and
// functions with state, and are held to a reference that has none of them.

#include <string>

#include <catch2/catch.hpp>

#include "millrace/nexmark/registered_jobs.hpp"
#include "millrace/properties/campaign.hpp"
#include "millrace/properties/experiment.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr std::uint64_t campaign_seed = 1;
constexpr std::uint64_t records = 1000;
constexpr std::uint64_t runs = 20;

void hold(const std::string& query) {
  const auto jobs = nexmark::registered_jobs();
  const UserJob* const job = find_job(jobs, "nexmark." + query);
  REQUIRE(job != nullptr);
  const Subject subject(*job, job->sample(records));
  REQUIRE(subject.records() == records);
  CHECK(!subject.reference().rows().empty());
  sim::StackPool stacks;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::uint64_t seed = run_seed(campaign_seed, i);
    const Outcome outcome = run_case(generate_case(subject, seed), subject, stacks);
    CAPTURE(i, to_text(outcome.verdict), outcome.reason);
    for (const Breach& breach : outcome.breaches) UNSCOPED_INFO(breach.judge + ": " + breach.what);
    CHECK(outcome.verdict == Verdict::held);
  }
}

}  // namespace

TEST_CASE("nexmark.q0 holds under faults", "[simulation]") { hold("q0"); }
TEST_CASE("nexmark.q1 holds under faults", "[simulation]") { hold("q1"); }
TEST_CASE("nexmark.q2 holds under faults", "[simulation]") { hold("q2"); }
TEST_CASE("nexmark.q3 holds under faults", "[simulation]") { hold("q3"); }
TEST_CASE("nexmark.q4 holds under faults", "[simulation]") { hold("q4"); }
TEST_CASE("nexmark.q5 holds under faults", "[simulation]") { hold("q5"); }
TEST_CASE("nexmark.q7 holds under faults", "[simulation]") { hold("q7"); }
TEST_CASE("nexmark.q8 holds under faults", "[simulation]") { hold("q8"); }
TEST_CASE("nexmark.q11 holds under faults", "[simulation]") { hold("q11"); }
TEST_CASE("nexmark.q12 holds under faults", "[simulation]") { hold("q12"); }
TEST_CASE("nexmark.q17 holds under faults", "[simulation]") { hold("q17"); }
TEST_CASE("nexmark.q18 holds under faults", "[simulation]") { hold("q18"); }
