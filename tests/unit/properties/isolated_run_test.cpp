#include "millrace/properties/isolated_run.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "calm_run.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Runs the child in this process; it may die, or be ended, after all that it has said.
class OneWorker final : public Workers {
 public:
  void run(int count, const Child& child, const OnLine& on_line, const OnEnd& on_end,
           const OnTick& on_tick) override {
    REQUIRE(count == 1);
    if (!on_tick()) return;
    if (death.signal == 0) {
      child(0, [&](std::string_view line) { on_line(0, line); });
    }
    CHECK_FALSE(on_end(death));
  }
  ChildEnd death;
};

const Subject& small_subject() {
  static const Subject subject(spec_of(SmallJob{}),
                               input_of({record("a", 0), record("a", 500), record("b", 1500)}));
  return subject;
}

bool go_on() { return true; }

}  // namespace

TEST_CASE("what a run in another process says is all that it was", "[properties][isolated]") {
  const Case scenario = case_of(small_subject(), {"kill node=worker1 at='took_over' down=10ms",
                                                  "pause node=log at=50s lasts=1ms"});
  OneWorker workers;
  const auto outcome = run_isolated(scenario, small_subject(), workers, go_on);
  const Outcome here = run(scenario, small_subject());

  REQUIRE(outcome);
  CHECK(outcome->verdict == Verdict::held);
  CHECK(outcome->trace_hash == here.trace_hash);
  CHECK(outcome->unfired == here.unfired);
  CHECK(outcome->unfired.size() == 1);
  CHECK(outcome->statistics.checkpoints == here.statistics.checkpoints);
  CHECK(outcome->statistics.events == here.statistics.events);
}

TEST_CASE("a run whose process died is crashed, and says of what", "[properties][isolated]") {
  OneWorker workers;
  workers.death.signal = 11;
  const auto outcome = run_isolated(case_of(small_subject()), small_subject(), workers, go_on);

  REQUIRE(outcome);
  CHECK(story_of(*outcome) == "crashed; process: the process died of signal 11");
}

TEST_CASE("a run that was ended has no outcome", "[properties][isolated]") {
  OneWorker workers;
  CHECK_FALSE(
      run_isolated(case_of(small_subject()), small_subject(), workers, [] { return false; }));
}

TEST_CASE("a case that cannot be run is told by the process that tried", "[properties][isolated]") {
  OneWorker workers;
  const Case scenario = case_of(small_subject(), {"kill node=worker7 at=1s down=1s"});
  CHECK(complaint_of([&] { run_isolated(scenario, small_subject(), workers, go_on); }) ==
        "fault `kill node=worker7 at=1s down=1s`: there is no node `worker7`");
}

TEST_CASE("the draws of a run in another process are those that it makes here",
          "[properties][isolated]") {
  const Case scenario = case_of(small_subject(), {"kill node=worker1 at='took_over' down=10ms"});
  OneWorker workers;
  std::vector<sim::Drawn> here;
  Observers observers;
  observers.on_draws = [&](const std::vector<sim::Drawn>& draws) { here = draws; };
  sim::StackPool stacks;
  run_case(scenario, small_subject(), stacks, observers);

  CHECK(here.size() > 100);
  CHECK(draws_of_isolated(scenario, small_subject(), workers, go_on) == here);

  const Case bad = case_of(small_subject(), {"kill node=worker7 at=1s down=1s"});
  CHECK(complaint_of([&] { draws_of_isolated(bad, small_subject(), workers, go_on); }) ==
        "fault `kill node=worker7 at=1s down=1s`: there is no node `worker7`");
  workers.death.signal = 11;
  CHECK_FALSE(draws_of_isolated(scenario, small_subject(), workers, go_on));
}

TEST_CASE("choices that a run in another process never asked for are told",
          "[properties][isolated]") {
  Case scenario = case_of(small_subject());
  scenario.choices = {sim::parse_choice("world site=network.latency entity=nobody draw=0 value=1")};
  OneWorker workers;
  const auto outcome = run_isolated(scenario, small_subject(), workers, go_on);
  REQUIRE(outcome);
  CHECK(outcome->unasked == std::vector<std::string>{to_text(scenario.choices[0])});
}
