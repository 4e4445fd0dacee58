#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "millrace/env/error.hpp"
#include "millrace/posix/child_workers.hpp"
#include "millrace/properties/experiment.hpp"
#include "millrace/properties/first_difference.hpp"

#include "build_id.hpp"
#include "case_files.hpp"
#include "commands.hpp"

namespace millrace::tool {
namespace {

using properties::Case;
using properties::Outcome;
using properties::Verdict;

/// A log of a simulated run: every landmark and note with its virtual time.
class ReplayLog {
 public:
  explicit ReplayLog(const std::string& path) {
    if (path.empty()) return;
    file_ = std::fopen(path.c_str(), "w");
    if (file_ == nullptr) throw UsageError(fmt::format("{}: it cannot be written", path));
  }
  ~ReplayLog() {
    if (file_ != nullptr) std::fclose(file_);
  }
  ReplayLog(const ReplayLog&) = delete;
  ReplayLog& operator=(const ReplayLog&) = delete;

  properties::Observers observers() {
    properties::Observers observers;
    if (file_ == nullptr) return observers;
    observers.on_note = [this](Instant at, std::string_view node, std::string_view sentence) {
      line(at, node, sentence);
    };
    observers.on_landmark = [this](Instant at, std::string_view node,
                                   const sim::LandmarkEvent& event) {
      const LandmarkFields& fields = event.fields;
      std::string what = fmt::format("{} {} life={} term={} n={}", event.role, event.landmark.name,
                                     event.life, fields.id.term.number, fields.id.n);
      if (fields.subtask >= 0) what += fmt::format(" subtask={}", fields.subtask);
      if (fields.retry != 0) what += fmt::format(" retry={}", fields.retry);
      if (fields.count != 0) what += fmt::format(" count={}", fields.count);
      line(at, node, what);
    };
    return observers;
  }

 private:
  void line(Instant at, std::string_view node, std::string_view what) {
    fmt::print(file_, "{:>12.6f} {:<13} {}\n", static_cast<double>(at.ns) / 1e9, node, what);
  }
  std::FILE* file_ = nullptr;
};

/// How a replay compares with what the case says it saw.
enum class Comparison : std::uint8_t { same_run, other_build, other_trace, no_trace };

Comparison compare(const Case& scenario, const Outcome& outcome) {
  if (!scenario.trace_hash) return Comparison::no_trace;
  if (scenario.build != build_id) return Comparison::other_build;
  return *scenario.trace_hash == outcome.trace_hash ? Comparison::same_run
                                                    : Comparison::other_trace;
}

std::string_view describe(Comparison comparison) {
  switch (comparison) {
    case Comparison::same_run: return "the same run, event by event";
    case Comparison::other_build: return "another build: the verdict counts, not the trace";
    case Comparison::other_trace: return "another trace on the same build";
    case Comparison::no_trace: return "the case does not say which trace it saw";
  }
  return "";
}

/// The trace hash of the case in a process of its own.
std::uint64_t hash_in_another_process(const Case& scenario, const properties::Subject& subject) {
  posix::ChildWorkers workers;
  std::string line;
  workers.run(
      1,
      [&](int, const std::function<void(std::string_view)>& say) {
        sim::StackPool stacks;
        say(std::to_string(run_case(scenario, subject, stacks).trace_hash));
        return 0;
      },
      [&](int, std::string_view said) { line = said; }, [](const ChildEnd&) { return false; },
      [] { return true; });
  return line.empty() ? 0 : std::stoull(line);
}

std::string where_they_part(const Case& scenario, const properties::Subject& subject) {
  posix::ChildWorkers workers;
  const auto difference = properties::find_first_difference(scenario, subject, workers);
  return difference ? to_text(*difference) : "two processes run it the same now";
}

void print_text(const Case& scenario, const Outcome& outcome, Comparison comparison) {
  fmt::print("verdict      {} (the case expects {})\n", to_text(outcome.verdict),
             to_text(scenario.expect));
  for (const properties::Breach& breach : outcome.breaches) {
    fmt::print("  {}: {}\n", breach.judge, breach.what);
  }
  if (!outcome.reason.empty()) fmt::print("  {}\n", outcome.reason);
  const properties::RowCounts& rows = outcome.rows;
  if (rows.wrong() != 0) {
    fmt::print("rows         lost {}, duplicated {}, altered {}, unexpected {}\n", rows.lost,
               rows.duplicated, rows.altered, rows.unexpected);
  }
  for (const std::string& fault : outcome.unfired) fmt::print("never fired  {}\n", fault);
  for (const std::string& choice : outcome.unasked) fmt::print("never asked  {}\n", choice);
  fmt::print("run          {:.3f} s simulated, {} checkpoints, {} events\n",
             static_cast<double>(outcome.statistics.virtual_ns) / 1e9,
             outcome.statistics.checkpoints, outcome.statistics.events);
  fmt::print("trace        {:016x}: {}\n", outcome.trace_hash, describe(comparison));
}

void print_json(const Case& scenario, const Outcome& outcome, Comparison comparison) {
  nlohmann::ordered_json json;
  json["verdict"] = to_text(outcome.verdict);
  json["expect"] = to_text(scenario.expect);
  auto& judges = json["judges"] = nlohmann::ordered_json::object();
  for (const properties::Breach& breach : outcome.breaches) judges[breach.judge] = breach.what;
  json["rows"] = {{"lost", outcome.rows.lost},
                  {"duplicated", outcome.rows.duplicated},
                  {"altered", outcome.rows.altered},
                  {"unexpected", outcome.rows.unexpected},
                  {"unjudged", outcome.rows.unjudged}};
  json["reason"] = outcome.reason;
  json["trace_hash"] = fmt::format("{:016x}", outcome.trace_hash);
  json["trace"] = describe(comparison);
  json["unfired"] = outcome.unfired;
  json["unasked"] = outcome.unasked;
  json["checkpoints"] = outcome.statistics.checkpoints;
  json["simulated_seconds"] = static_cast<double>(outcome.statistics.virtual_ns) / 1e9;
  json["build"] = build_id;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int replay_command(const ReplayFlags& flags, const Jobs& jobs) {
  const Case scenario = load_case(flags.file);
  const properties::Subject subject = subject_of(scenario, jobs);
  ReplayLog log(flags.log_file);
  sim::StackPool stacks;
  Outcome outcome = run_case(scenario, subject, stacks, log.observers());
  if (flags.check_determinism) {
    const std::uint64_t other = hash_in_another_process(scenario, subject);
    if (other != outcome.trace_hash) {
      outcome.verdict = Verdict::nondeterministic;
      outcome.breaches.push_back(
          {"determinism",
           fmt::format("this process gave the trace hash {:016x}, another {:016x}; {}",
                       outcome.trace_hash, other, where_they_part(scenario, subject))});
    }
  }
  // A case whose faults no longer happen, or whose draws are no longer made, shows nothing.
  const bool is_whole = outcome.unfired.empty() && outcome.unasked.empty();
  if (outcome.verdict == Verdict::held && !is_whole) outcome.verdict = Verdict::stale;
  const Comparison comparison = compare(scenario, outcome);
  if (comparison == Comparison::other_trace && outcome.verdict != Verdict::nondeterministic) {
    outcome.verdict = Verdict::nondeterministic;
    outcome.breaches.push_back(
        {"determinism",
         fmt::format("the case was seen with the trace hash {:016x} on this build; {}",
                     *scenario.trace_hash, where_they_part(scenario, subject))});
  }
  if (flags.json) {
    print_json(scenario, outcome, comparison);
  } else {
    print_text(scenario, outcome, comparison);
  }
  if (!flags.expect) return exit_code_of(outcome.verdict);
  if (outcome.verdict == scenario.expect) return 0;
  // It does not show what it was kept for.
  const int code = exit_code_of(outcome.verdict);
  return code == 0 ? exit_code_of(Verdict::stale) : code;
}

}  // namespace millrace::tool
