#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/posix/child_workers.hpp"
#include "millrace/posix/host_facts.hpp"
#include "millrace/posix/real_clock.hpp"
#include "millrace/posix/stop_signals.hpp"
#include "millrace/properties/campaign.hpp"
#include "millrace/properties/random_job.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job_file.hpp"

#include "case_files.hpp"
#include "commands.hpp"
#include "job_loading.hpp"
#include "test_report.hpp"

namespace millrace::tool {
namespace {

using properties::CampaignOptions;
using properties::CampaignReport;
using properties::Finding;
using properties::Subject;
using properties::SubjectOf;
using properties::Verdict;

using namespace std::chrono_literals;

/// In place of a job file: a job of its own for every seed.
constexpr const char* random_job_name = "random";
constexpr std::uint64_t default_records = 2000;
constexpr const char* default_directory = "millrace-cases";
constexpr std::size_t most_saved_per_judge = 5;
constexpr std::size_t most_listed = 10;

std::uint64_t parse_seed(const std::string& text) {
  std::string_view digits = text;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw UsageError(fmt::format("--seed {}: up to 16 hexadecimal digits are expected", text));
  }
  return seed;
}

double seconds(std::chrono::nanoseconds span) { return static_cast<double>(span.count()) / 1e9; }

/// What a campaign puts on trial.
struct Trial {
  std::string job;
  SubjectOf subject_of;
  bool is_random = false;
  std::uint64_t records = 0;      ///< Of a job that was given.
  std::uint64_t whole_input = 0;  ///< The same, before its input was cut.
  /// A job in C++ whose result depends on the interleaving; else null.
  std::shared_ptr<const Subject> unsteady = nullptr;
};

/// A job in C++, on its own sample or on the head of its input.
Trial load_user_trial(const TestFlags& flags, const properties::UserJob& user) {
  const UserRun run = load_user_job(user, flags.settings);
  const std::uint64_t records = flags.input_records.value_or(default_records);
  const properties::Input whole =
      user.sample != nullptr ? user.sample(records) : load_input(run.job.places.input);
  const auto subject = std::make_shared<const Subject>(run.job, head_of(whole, records));
  return {user.name,     [subject](std::uint64_t) { return subject; }, false, subject->records(),
          whole.lines(), subject->interleaving ? subject : nullptr};
}

Trial load_trial(const TestFlags& flags, const Jobs& jobs) {
  if (flags.job == random_job_name) {
    properties::RandomScope scope;
    if (flags.input_records) scope.records = *flags.input_records;
    for (const std::string& setting : flags.settings) {
      scope.settings.push_back(parse_setting(setting));
      const Setting& last = scope.settings.back();
      if (last.key == "sink.mode") scope.mode = find_sink_mode(last.value);
    }
    const SubjectOf subject_of = [scope](std::uint64_t seed) {
      const properties::RandomJob drawn = properties::random_job(seed, scope);
      return std::make_shared<const Subject>(drawn.spec, drawn.input);
    };
    subject_of(0);  // Settings that do not fit are told before the runs.
    return {random_job_name, subject_of, true};
  }
  if (const auto* const user = find_job(jobs, flags.job)) return load_user_trial(flags, *user);
  expect_job(flags.job);
  const JobSpec spec = load_job(flags.job, flags.settings);
  const properties::Input whole = load_input(spec);
  const auto subject = std::make_shared<const Subject>(
      spec, head_of(whole, flags.input_records.value_or(default_records)));
  return {spec.name, [subject](std::uint64_t) { return subject; }, false, subject->input.lines(),
          whole.lines()};
}

class Progress {
 public:
  Progress(Clock& clock, std::uint64_t runs, bool is_shown)
      : clock_(clock),
        start_(clock.now()),
        runs_(runs),
        is_shown_(is_shown),
        on_terminal_(posix::output_is_terminal()) {}

  void show(const CampaignReport& report) {
    const Instant now = clock_.now();
    if (!is_shown_ || now - shown_ < (on_terminal_ ? 200ms : 10'000ms)) return;
    if (!on_terminal_ && now - start_ < 10s) return;
    shown_ = now;
    std::uint64_t faults = 0;
    for (const auto count : report.totals.firings) faults += count;
    const double elapsed = std::max(seconds(now - start_), 1e-3);
    const double simulated = static_cast<double>(report.totals.virtual_ns) / 1e9;
    const std::string line = fmt::format(
        "{} of {} runs   {:.1f}/s   {:.0f} s simulated a second   {} faults   {} held",
        grouped(report.runs), grouped(runs_), static_cast<double>(report.runs) / elapsed,
        simulated / elapsed, grouped(faults), grouped(report.held()));
    fmt::print("{}{}{}", on_terminal_ ? "\r\x1b[K" : "", line, on_terminal_ ? "" : "\n");
    std::fflush(stdout);
  }
  void end() {
    if (is_shown_ && on_terminal_) fmt::print("\r\x1b[K");
  }
  double elapsed() { return std::max(seconds(clock_.now() - start_), 1e-6); }

 private:
  Clock& clock_;
  Instant start_;
  Instant shown_{-1'000'000'000'000};
  std::uint64_t runs_;
  bool is_shown_;
  bool on_terminal_;
};

/// Saves the cases of what was found. Without a directory of the user's own, only the first few of
/// each kind.
std::vector<std::string> save_findings(const TestFlags& flags, const SubjectOf& subject_of,
                                       const std::vector<Finding>& findings) {
  std::map<std::string, std::size_t> saved;
  std::vector<std::string> paths;
  for (const Finding& finding : findings) {
    if (finding.outcome.verdict == Verdict::held && flags.save_directory.empty()) continue;
    const auto& breaches = finding.outcome.breaches;
    const std::string kind =
        breaches.empty() ? std::string(to_text(finding.outcome.verdict)) : breaches[0].judge;
    if (flags.save_directory.empty() && saved[kind] == most_saved_per_judge) continue;
    ++saved[kind];
    paths.push_back(
        save_case(flags.save_directory.empty() ? default_directory : flags.save_directory,
                  case_of(finding, *subject_of(finding.seed)), finding.outcome));
  }
  return paths;
}

void print_findings(const std::vector<Finding>& findings, const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < std::min(findings.size(), most_listed); ++i) {
    const properties::Outcome& outcome = findings[i].outcome;
    if (outcome.verdict == Verdict::held) continue;
    fmt::print("\nseed {:013x}: {}\n", findings[i].seed, to_text(outcome.verdict));
    for (const properties::Breach& breach : outcome.breaches) {
      fmt::print("  {}: {}\n", breach.judge, breach.what);
    }
    if (!outcome.reason.empty()) fmt::print("  {}\n", outcome.reason);
  }
  if (findings.size() > most_listed) {
    fmt::print("\nand {} more\n", findings.size() - most_listed);
  }
  if (paths.empty()) return;
  fmt::print("\n{} written; to see the first again:\n  millrace replay {}\n",
             paths.size() == 1 ? "a case was" : fmt::format("{} cases were", paths.size()),
             paths.front());
}

/// A job that shows one thing or another, without any fault: there is nothing to compare the rows
/// of a storm with. Returns the path of the case that shows it.
std::string save_unsteady(const TestFlags& flags, const Subject& subject) {
  properties::Case made = calm_case(subject, *subject.differing_seed);
  sim::StackPool stacks;
  const properties::Outcome outcome = run_case(made, subject, stacks);
  note_seen(made, outcome);
  return save_case(flags.save_directory.empty() ? default_directory : flags.save_directory, made,
                   outcome);
}

void print_unsteady(const Subject& subject, const std::string& path) {
  fmt::print(
      "\nthe result depends on the interleaving: {}\n"
      "so the rows that a storm leaves are not judged; all else is\n  millrace replay {}\n",
      *subject.interleaving, path);
}

/// One run of one seed: what it tried, whatever its verdict.
void print_only_case(const Trial& trial, std::uint64_t seed) {
  const auto subject = trial.subject_of(seed);
  fmt::print("seed {:013x}\n\n{}{}\n", seed,
             trial.is_random ? to_toml(subject->written) + "\n" : "",
             setting_text(properties::generate_case(*subject, seed)));
}

}  // namespace

int test_command(const TestFlags& flags, const Jobs& jobs) {
  const Trial trial = load_trial(flags, jobs);
  if (!flags.save_directory.empty()) {
    ensure_writable(flags.save_directory, "--save " + flags.save_directory);
  }

  CampaignOptions options;
  options.seeds = flags.seeds;
  options.campaign_seed = flags.campaign_seed;
  if (flags.only_seed) options.only_seed = parse_seed(*flags.only_seed);
  options.jobs = flags.jobs == 0 ? posix::processor_count() : flags.jobs;
  options.check_determinism = flags.check_determinism;

  posix::RealClock clock;
  posix::ChildWorkers workers;
  const posix::StopSignals signals;
  Progress progress(clock, flags.only_seed ? 1 : flags.seeds, !flags.json);
  TestReport report;
  report.job = trial.job;
  report.campaign_seed = flags.campaign_seed;
  report.is_random = trial.is_random;
  report.records = trial.records;
  report.whole_input = trial.whole_input;
  report.campaign =
      run_campaign(trial.subject_of, options, workers, [&](const CampaignReport& known) {
        progress.show(known);
        return !signals.requested();
      });
  progress.end();
  report.seconds = progress.elapsed();
  report.processor_seconds = std::max(seconds(posix::children_processor_time()), 1e-6);
  if (trial.is_random) report.records = report.campaign.totals.records;
  report.cases = save_findings(flags, trial.subject_of, report.campaign.findings);
  std::string unsteady_case;
  if (trial.unsteady != nullptr) {
    unsteady_case = save_unsteady(flags, *trial.unsteady);
    report.cases.push_back(unsteady_case);
    report.interleaving = trial.unsteady->interleaving;
  }

  if (flags.json) {
    print_json(report);
  } else {
    if (options.only_seed) print_only_case(trial, *options.only_seed);
    print_table(report);
    print_findings(report.campaign.findings, report.cases);
    if (trial.unsteady != nullptr) print_unsteady(*trial.unsteady, unsteady_case);
  }
  if (signals.requested()) {
    if (!flags.json) fmt::print("\ninterrupted after {} runs\n", report.campaign.runs);
    const int code = exit_code_of(report.campaign.verdict());
    return code == 0 ? 130 : code;
  }
  const int code = exit_code_of(report.campaign.verdict());
  return code == 0 && trial.unsteady != nullptr ? exit_code_of(Verdict::breached) : code;
}

}  // namespace millrace::tool
