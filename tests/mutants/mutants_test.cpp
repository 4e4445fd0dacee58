#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/posix/child_workers.hpp"
#include "millrace/properties/campaign.hpp"
#include "millrace/properties/experiment.hpp"
#include "millrace/properties/random_job.hpp"

#include "corpus_subject.hpp"
#include "mutant.hpp"
#include "patch.hpp"

// Every judge has a planted bug that it convicts: a judge that has never convicted is no judge.

using namespace millrace;
using namespace millrace::mutants;
using namespace millrace::properties;

namespace {

/// So many runs may pass before a bug is found. A campaign has thousands.
constexpr std::uint64_t most_runs = 400;
constexpr std::uint64_t runs_of_campaign = 60;

std::string source_text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(MILLRACE_ROOT "/" + file, std::ios::binary).rdbuf();
  return text.str();
}

struct Conviction {
  std::uint64_t runs = 0;
  std::set<std::string> judges;
};

SubjectOf subject_of(const std::string& job) {
  if (job != "random") {
    const auto same = std::make_shared<const Subject>(tests::corpus_subject(job, 1000));
    return [same](std::uint64_t) { return same; };
  }
  return [](std::uint64_t seed) {
    const RandomJob drawn = random_job(seed);
    return std::make_shared<const Subject>(drawn.spec, drawn.input);
  };
}

/// Runs seeds with a bug awake until the judge of its patch convicts it. Others may do so before: a
/// bug is seen in more than one way.
Conviction convict(const Patch& patch, const SubjectOf& subject_at) {
  sim::StackPool stacks;
  Conviction found;
  while (!found.judges.contains(patch.judge) && found.runs < most_runs) {
    const auto seed = run_seed(1, found.runs++);
    const auto subject = subject_at(seed);
    const Outcome outcome = run_case(generate_case(*subject, seed), *subject, stacks);
    for (const Breach& breach : outcome.breaches) found.judges.insert(breach.judge);
  }
  return found;
}

/// The same for what only a campaign sees: that processes run a case differently, or die of it.
Conviction convict_by_campaign(const Patch& patch, const SubjectOf& subject_at) {
  posix::ChildWorkers workers;
  CampaignOptions options;
  options.seeds = runs_of_campaign;
  options.check_determinism = patch.judge == "determinism";
  const CampaignReport report =
      run_campaign(subject_at, options, workers, [](const auto&) { return true; });
  if (patch.judge == "determinism") {
    REQUIRE(!report.findings.empty());
    CHECK_THAT(report.findings[0].outcome.breaches.at(0).what,
               Catch::Contains("the first event that differs is number "));
  }
  Conviction found{report.runs, {}};
  for (const auto& [judge, runs] : report.judges) found.judges.insert(judge);
  return found;
}

Conviction convict_awake(const Patch& patch) {
  const SubjectOf subject_at = subject_of(patch.job);
  const bool needs_processes = patch.judge == "determinism" || patch.judge == "process";
  active = patch.id;
  Conviction found =
      needs_processes ? convict_by_campaign(patch, subject_at) : convict(patch, subject_at);
  active.clear();
  return found;
}

}  // namespace

TEST_CASE("every planted bug is convicted, and by the right judge", "[mutants]") {
  const auto patches = read_patches(MILLRACE_ROOT "/corpus/mutants");
  std::set<std::string> judges;
  for (const Patch& patch : patches) judges.insert(patch.judge);
  CHECK(judges == std::set<std::string>{"determinism", "invariants", "late", "leftovers", "order",
                                        "process", "progress", "rows", "visibility"});

  for (const Patch& patch : patches) {
    DYNAMIC_SECTION(patch.id) {
      INFO(patch.what);
      REQUIRE(count_places(source_text(patch.file), patch) == 1);  // Else it is stale.
      const Conviction found = convict_awake(patch);
      INFO("after " << found.runs << " runs");
      CHECK(found.judges.contains(patch.judge));
    }
  }
}
