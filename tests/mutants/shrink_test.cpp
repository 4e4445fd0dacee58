#include "millrace/properties/shrink.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/properties/experiment.hpp"

#include "corpus_subject.hpp"
#include "mutant.hpp"

// What a campaign finds becomes a case that one can understand.

using namespace millrace;
using namespace millrace::mutants;
using namespace millrace::properties;

namespace {

constexpr std::uint64_t most_runs_to_find = 400;
constexpr std::size_t most_faults = 2;
constexpr std::uint64_t most_records = 20;

/// Keeps a bug awake for as long as it lives.
struct Awake {
  explicit Awake(const std::string& id) { active = id; }
  ~Awake() { active.clear(); }
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;
};

Outcome run_alone(const Case& scenario) {
  const Subject subject(scenario.job, scenario.input);
  sim::StackPool stacks;
  return run_case(scenario, subject, stacks);
}

std::vector<sim::Drawn> draws_of(const Case& scenario) {
  const Subject subject(scenario.job, scenario.input);
  std::vector<sim::Drawn> drawn;
  Observers observers;
  observers.on_draws = [&](const std::vector<sim::Drawn>& draws) { drawn = draws; };
  sim::StackPool stacks;
  run_case(scenario, subject, stacks, observers);
  return drawn;
}

/// The first run of a campaign that does not hold.
Case find_failure(const Subject& subject) {
  sim::StackPool stacks;
  for (std::uint64_t i = 0; i < most_runs_to_find; ++i) {
    Case made = generate_case(subject, run_seed(1, i));
    if (run_case(made, subject, stacks).verdict != Verdict::held) return made;
  }
  FAIL("every run held");
  return {};
}

std::string text_of(const Case& scenario) {
  return to_text(scenario, {}, [](const std::string& origin) { return origin; });
}

}  // namespace

TEST_CASE("what convicts a planted bug shrinks to a few records and faults, and still does",
          "[mutants][shrink]") {
  const Subject subject = tests::corpus_subject("quakes_feed", 1000);
  REQUIRE(subject.input.lines() == 1000);
  for (const char* id : {"publish_without_marker_check", "nothing_published_at_recovery",
                         "unlisted_rows_published", "no_alignment", "snapshot_after_unblocking"}) {
    DYNAMIC_SECTION(id) {
      std::optional<Awake> bug(std::in_place, id);
      const Case whole = find_failure(subject);
      const Failure failure = failure_of(run_alone(whole));

      ShrinkOptions options;
      options.draws_of = draws_of;
      const Shrunk shrunk = shrink(
          whole, [&](const Case& candidate) { return failure_of(run_alone(candidate)) == failure; },
          options);

      INFO("after " << shrunk.runs << " runs:\n" << text_of(shrunk.smallest));
      CHECK(shrunk.end == Shrunk::End::smallest);
      CHECK(shrunk.smallest.plan.faults.size() <= most_faults);
      CHECK(shrunk.smallest.input.lines() <= most_records);
      // It is a case of its own: what its file says fails by the same judge, in the same run twice.
      const Case again = parse_case(text_of(shrunk.smallest), "shrunk.toml",
                                    [](const std::string&) { return std::string(); });
      const Outcome first = run_alone(again);
      const Outcome second = run_alone(again);
      CHECK(failure_of(first) == failure);
      CHECK(first.unfired.empty());
      CHECK(first.unasked.empty());
      // Nothing is left to chance, but for what stands in it.
      CHECK(again.is_quiet);
      CHECK(failure_of(second) == failure);
      CHECK(second.trace_hash == first.trace_hash);
      CHECK(run_alone(shrunk.smallest).trace_hash == first.trace_hash);
      // And it shows this bug and no other: asleep, nothing is wrong.
      bug.reset();
      CHECK(run_alone(again).verdict == Verdict::held);
    }
  }
}
