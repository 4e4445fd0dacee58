#include "millrace/properties/isolated_run.hpp"

#include <algorithm>
#include <string>

#include "millrace/env/error.hpp"
#include "millrace/properties/campaign.hpp"

#include "campaign_wire.hpp"

namespace millrace::properties {
namespace {

/// The line of a child that could not run the case begins with it; what it has to say comes behind.
constexpr char usage = '!';

int run_and_say(const Case& scenario, const Subject& subject,
                const std::function<void(std::string_view)>& say) {
  sim::StackPool stacks;
  CampaignReport report;
  try {
    const Outcome outcome = run_case(scenario, subject, stacks);
    report.totals = outcome.statistics;
    report.findings.push_back({scenario.seed, outcome});
  } catch (const UsageError& error) {
    std::string line = usage + std::string(error.what());
    std::replace(line.begin(), line.end(), '\n', ' ');
    say(line);
    return 0;
  }
  say(to_line(report));
  return 0;
}

}  // namespace

std::optional<Outcome> run_isolated(const Case& scenario, const Subject& subject, Workers& workers,
                                    const std::function<bool()>& go_on) {
  std::string said;
  std::optional<Outcome> outcome;
  workers.run(
      1,
      [&](int, const std::function<void(std::string_view)>& say) {
        return run_and_say(scenario, subject, say);
      },
      [&](int, std::string_view line) { said = line; },
      [&](const ChildEnd& end) {
        if (end.signal != 0 || end.exit_code != 0) outcome = outcome_of_dead(end);
        return false;
      },
      go_on);
  if (outcome || said.empty()) return outcome;
  if (said.front() == usage) throw UsageError(said.substr(1));
  CampaignReport report;
  add_line(report, said);
  outcome = report.findings.at(0).outcome;
  outcome->statistics = report.totals;
  return outcome;
}

}  // namespace millrace::properties
