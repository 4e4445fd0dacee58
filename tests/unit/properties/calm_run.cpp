#include "calm_run.hpp"

namespace millrace::properties {

using namespace std::chrono_literals;

Case case_of(const Subject& subject, const std::vector<std::string>& faults, std::uint64_t seed) {
  Case made;
  made.job = subject.spec;
  made.input = subject.input;
  made.cluster = {2, 2};
  made.arrival = 1s;
  made.checkpoint.interval = 100ms;
  made.seed = seed;
  for (const std::string& fault : faults) made.plan.faults.push_back(faults::parse_fault(fault));
  return made;
}

Outcome run(const Case& scenario, const Subject& subject, const Observers& observers) {
  sim::StackPool stacks;
  return run_case(scenario, subject, stacks, observers);
}

std::string story_of(const Outcome& outcome) {
  std::string story(to_text(outcome.verdict));
  if (!outcome.reason.empty()) story += "; " + outcome.reason;
  for (const Breach& breach : outcome.breaches) story += "; " + breach.judge + ": " + breach.what;
  return story;
}

}  // namespace millrace::properties
