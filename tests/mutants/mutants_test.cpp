#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "millrace/properties/experiment.hpp"

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

std::string source_text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(MILLRACE_ROOT "/" + file, std::ios::binary).rdbuf();
  return text.str();
}

struct Conviction {
  std::uint64_t runs = 0;
  std::string judge;
};

/// Runs seeds with a bug awake until the judge of its patch convicts it. Others may do so before: a
/// bug is seen in more than one way.
Conviction convict(const Patch& patch, const Subject& subject) {
  sim::StackPool stacks;
  Conviction found;
  active = patch.id;
  while (found.judge != patch.judge && found.runs < most_runs) {
    const auto seed = run_seed(1, found.runs++);
    const Outcome outcome =
        run_case(generate_case(subject.spec, subject.input, seed), subject, stacks);
    if (!outcome.breaches.empty()) found.judge = outcome.breaches.front().judge;
  }
  active.clear();
  return found;
}

}  // namespace

TEST_CASE("every planted bug is convicted, and by the right judge", "[mutants]") {
  const auto patches = read_patches(MILLRACE_ROOT "/corpus/mutants");
  REQUIRE(patches.size() >= 4);
  const Subject subject = tests::corpus_subject("quakes_feed", 1000);

  for (const Patch& patch : patches) {
    DYNAMIC_SECTION(patch.id) {
      INFO(patch.what);
      REQUIRE(count_places(source_text(patch.file), patch) == 1);  // Else it is stale.
      const Conviction found = convict(patch, subject);
      INFO("after " << found.runs << " runs");
      CHECK(found.judge == patch.judge);
    }
  }
}
