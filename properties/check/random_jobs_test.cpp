#include <rapidcheck/catch.h>

#include "millrace/properties/experiment.hpp"
#include "millrace/properties/random_job.hpp"

#include "any_seed.hpp"
#include "kept_case.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

void expect_reference(SinkMode mode) {
  const std::uint64_t seed = any_seed();
  const RandomJob job = random_job(seed, {.records = *rc::gen::inRange<std::uint64_t>(0, 120),
                                          .partitions = *rc::gen::inRange<std::uint64_t>(1, 5),
                                          .mode = mode});
  const Case made = generate_case(job, seed);
  sim::StackPool stacks;
  const Outcome outcome = run_case(made, Subject(job.spec, job.input), stacks);
  if (outcome.verdict != Verdict::held) RC_FAIL(keep(made, outcome));
}

}  // namespace

TEST_CASE("for all small jobs, inputs, clusters and plans the output equals the reference",
          "[properties]") {
  rc::prop("staged", [] { expect_reference(SinkMode::staged); });
  rc::prop("upsert", [] { expect_reference(SinkMode::upsert); });
}
