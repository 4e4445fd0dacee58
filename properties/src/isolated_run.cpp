#include "millrace/properties/isolated_run.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/properties/campaign.hpp"

#include "campaign_wire.hpp"

namespace millrace::properties {
namespace {

/// The line of a child that could not run the case begins with it; what it has to say comes behind.
constexpr char usage = '!';

using Say = std::function<void(std::string_view)>;

/// Runs the case in the child. `tell` says what the parent wants to know of it.
int run_and_say(const Case& scenario, const Subject& subject, const Observers& observers,
                const Say& say, const std::function<void(const Outcome&)>& tell) {
  sim::StackPool stacks;
  try {
    tell(run_case(scenario, subject, stacks, observers));
  } catch (const UsageError& error) {
    std::string line = usage + std::string(error.what());
    std::replace(line.begin(), line.end(), '\n', ' ');
    say(line);
  }
  return 0;
}

int say_outcome(const Case& scenario, const Subject& subject, const Say& say) {
  return run_and_say(scenario, subject, {}, say, [&](const Outcome& outcome) {
    CampaignReport report;
    report.totals = outcome.statistics;
    report.findings.push_back({scenario.seed, outcome});
    say(to_line(report));
  });
}

/// A line for each draw: what it was below, then the draw as an explicit choice.
int say_draws(const Case& scenario, const Subject& subject, const Say& say) {
  Observers observers;
  observers.on_draws = [&say](const std::vector<sim::Drawn>& draws) {
    for (const sim::Drawn& drawn : draws) {
      say(fmt::format("{} {}", drawn.bound, to_text(drawn.choice)));
    }
  };
  return run_and_say(scenario, subject, observers, say, [](const Outcome&) {});
}

sim::Drawn parse_draw(std::string_view line) {
  sim::Drawn drawn;
  const auto space = line.find(' ');
  std::from_chars(line.data(), line.data() + space, drawn.bound);
  drawn.choice = sim::parse_choice(line.substr(space + 1));
  return drawn;
}

}  // namespace

std::optional<Outcome> run_isolated(const Case& scenario, const Subject& subject, Workers& workers,
                                    const std::function<bool()>& go_on) {
  std::string said;
  std::optional<Outcome> outcome;
  workers.run(
      1,
      [&](int, const std::function<void(std::string_view)>& say) {
        return say_outcome(scenario, subject, say);
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

std::optional<std::vector<sim::Drawn>> draws_of_isolated(const Case& scenario,
                                                         const Subject& subject, Workers& workers,
                                                         const std::function<bool()>& go_on) {
  std::vector<sim::Drawn> draws;
  std::string complaint;
  bool is_whole = false;
  workers.run(
      1, [&](int, const Say& say) { return say_draws(scenario, subject, say); },
      [&](int, std::string_view line) {
        if (line.front() == usage) {
          complaint = line.substr(1);
        } else {
          draws.push_back(parse_draw(line));
        }
      },
      [&](const ChildEnd& end) {
        is_whole = end.signal == 0 && end.exit_code == 0;
        return false;
      },
      go_on);
  if (!complaint.empty()) throw UsageError(complaint);
  if (!is_whole) return std::nullopt;
  return draws;
}

}  // namespace millrace::properties
