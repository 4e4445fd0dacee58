#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "millrace/env/error.hpp"
#include "millrace/posix/child_workers.hpp"
#include "millrace/posix/host_facts.hpp"
#include "millrace/posix/real_clock.hpp"
#include "millrace/posix/stop_signals.hpp"
#include "millrace/properties/first_difference.hpp"
#include "millrace/properties/isolated_run.hpp"
#include "millrace/properties/shrink.hpp"

#include "build_id.hpp"
#include "case_files.hpp"
#include "commands.hpp"
#include "test_report.hpp"

namespace millrace::tool {
namespace {

using properties::Case;
using properties::Failure;
using properties::Outcome;
using properties::Shrunk;
using properties::Verdict;

using namespace std::chrono_literals;

constexpr int interrupted = 130;
constexpr const char* small_name = ".min.toml";

/// NAME.min.toml beside NAME.toml; a case of such a name stays where it is.
std::string path_beside(const std::string& file) {
  if (file.ends_with(small_name)) return file;
  std::filesystem::path path(file);
  path.replace_extension(small_name);
  return path.string();
}

using GoOn = std::function<bool()>;

/// Runs cases in processes of their own, one after the other.
class CaseRunner {
 public:
  /// `is_twice`: whether every case runs twice, and is expected to leave the same trace.
  CaseRunner(bool is_twice, const Jobs& jobs) : is_twice_(is_twice), jobs_(jobs) {}

  /// Nothing if it was not to go on. Throws UsageError: it is no case that can be run.
  std::optional<Outcome> run(const Case& scenario, const GoOn& go_on) {
    const properties::Subject subject = subject_of(scenario, jobs_);
    std::optional<Outcome> outcome = run_isolated(scenario, subject, workers_, go_on);
    if (!is_twice_ || !outcome || outcome->verdict == Verdict::crashed) return outcome;
    if (const auto difference = find_first_difference(scenario, subject, workers_)) {
      outcome->verdict = Verdict::nondeterministic;
      outcome->breaches = {{"determinism", to_text(*difference)}};
    }
    return outcome;
  }

  /// What becomes of a case if it fails in this way; not if it is no case at all.
  std::optional<Outcome> run_if_alike(const Case& scenario, const Failure& failure,
                                      const GoOn& go_on) {
    try {
      auto outcome = run(scenario, go_on);
      if (outcome && failure_of(*outcome) != failure) outcome.reset();
      return outcome;
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  /// The draws of a case; none of one that cannot tell.
  std::vector<sim::Drawn> draws_of(const Case& scenario, const GoOn& go_on) {
    const properties::Subject subject = subject_of(scenario, jobs_);
    return draws_of_isolated(scenario, subject, workers_, go_on)
        .value_or(std::vector<sim::Drawn>{});
  }

 private:
  bool is_twice_;
  const Jobs& jobs_;
  posix::ChildWorkers workers_;
};

/// How far the search is, on a terminal in one line.
class Progress {
 public:
  Progress(Clock& clock, bool is_shown)
      : clock_(clock),
        start_(clock.now()),
        is_shown_(is_shown),
        on_terminal_(posix::output_is_terminal()) {}

  void show(const properties::ShrinkProgress& known) {
    const Instant now = clock_.now();
    if (!is_shown_ || now - shown_ < (on_terminal_ ? 200ms : 10'000ms)) return;
    if (!on_terminal_ && now - start_ < 10s) return;
    shown_ = now;
    const Case& smallest = known.smallest;
    const std::string line =
        fmt::format("{} runs   at the {}   {} faults   {} records   {} workers",
                    grouped(known.runs), known.step, smallest.plan.faults.size(),
                    grouped(smallest.input.lines()), smallest.cluster.workers);
    fmt::print("{}{}{}", on_terminal_ ? "\r\x1b[K" : "", line, on_terminal_ ? "" : "\n");
    std::fflush(stdout);
  }
  void end() {
    if (is_shown_ && on_terminal_) fmt::print("\r\x1b[K");
  }
  double seconds() { return static_cast<double>((clock_.now() - start_).count()) / 1e9; }

 private:
  Clock& clock_;
  Instant start_;
  Instant shown_{-1'000'000'000'000};
  bool is_shown_;
  bool on_terminal_;
};

/// A search that is over, with what only the tool knows of it.
struct ShrinkReport {
  std::string file;
  std::string path;  ///< Of the smaller case.
  Case before;
  Shrunk shrunk;
  Outcome outcome;  ///< Of the smaller case.
  double seconds = 0;
};

/// What is counted of a case, and said of it before and after.
struct Size {
  const char* what;
  std::uint64_t before;
  std::uint64_t after;
};
std::vector<Size> sizes(const ShrinkReport& report) {
  const Case& before = report.before;
  const Case& after = report.shrunk.smallest;
  return {{"faults", before.plan.faults.size(), after.plan.faults.size()},
          {"records", before.input.lines(), after.input.lines()},
          {"partitions", before.input.partitions.size(), after.input.partitions.size()},
          {"choices", before.choices.size(), after.choices.size()},
          {"workers", before.cluster.workers, after.cluster.workers},
          {"parallelism", before.cluster.parallelism, after.cluster.parallelism}};
}

/// The comments of the case that was shrunk, and what has become of it.
std::vector<std::string> comments_of(const ShrinkReport& report) {
  std::vector<std::string> comments = comments_on_top(report.file);
  const Case& before = report.before;
  const Case& after = report.shrunk.smallest;
  if (setting_text(before) == setting_text(after) && before.input == after.input &&
      before.is_quiet == after.is_quiet && before.seed == after.seed &&
      before.choices == after.choices) {
    return comments;  // Nothing has become of it.
  }
  if (!comments.empty()) comments.emplace_back();
  std::string less;
  for (const Size& size : sizes(report)) {
    if (size.before == size.after) continue;
    less +=
        fmt::format("{} {} {} -> {}", less.empty() ? ":" : ",", size.what, size.before, size.after);
  }
  comments.push_back(fmt::format(
      "Shrunk from {} in {} runs{}. Now:", std::filesystem::path(report.file).filename().string(),
      report.shrunk.runs, less));
  for (const std::string& sentence : story(after, report.outcome)) comments.push_back(sentence);
  return comments;
}

std::string_view describe(Shrunk::End end) {
  switch (end) {
    case Shrunk::End::smallest: return "nothing that there is to try makes it smaller";
    case Shrunk::End::out_of_runs: return "all that --runs allows; there may be a smaller one";
    case Shrunk::End::stopped: return "interrupted; there may be a smaller one";
  }
  return "";
}

std::string_view name_of(Shrunk::End end) {
  switch (end) {
    case Shrunk::End::smallest: return "smallest";
    case Shrunk::End::out_of_runs: return "out_of_runs";
    case Shrunk::End::stopped: return "stopped";
  }
  return "";
}

void print_text(const ShrinkReport& report) {
  fmt::print("{:<12} {:>9} {:>9}\n", "", "before", "after");
  for (const Size& size : sizes(report)) {
    fmt::print("{:<12} {:>9} {:>9}\n", size.what, grouped(size.before), grouped(size.after));
  }
  fmt::print("{} runs in {:.1f} s: {}\n\n", grouped(report.shrunk.runs), report.seconds,
             describe(report.shrunk.end));
  for (const std::string& sentence : story(report.shrunk.smallest, report.outcome)) {
    fmt::print("{}\n", sentence);
  }
  for (const faults::Fault& fault : report.shrunk.smallest.plan.faults) {
    fmt::print("  {}\n", to_text(fault));
  }
  fmt::print("\nthe case was written; to see it again:\n  millrace replay {}\n", report.path);
}

void print_json(const ShrinkReport& report) {
  nlohmann::ordered_json json;
  json["case"] = report.file;
  json["path"] = report.path;
  json["verdict"] = to_text(report.outcome.verdict);
  json["judge"] = report.outcome.breaches.empty() ? "" : report.outcome.breaches.front().judge;
  json["reason"] = report.outcome.reason;
  for (const Size& size : sizes(report)) {
    json[size.what] = {{"before", size.before}, {"after", size.after}};
  }
  json["runs"] = report.shrunk.runs;
  json["seconds"] = report.seconds;
  json["end"] = name_of(report.shrunk.end);
  if (const auto hash = report.shrunk.smallest.trace_hash) {
    json["trace_hash"] = fmt::format("{:016x}", *hash);
  }
  json["build"] = build_id;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Finds out before the runs whether a case can be written to `path`. Throws UsageError.
void ensure_place(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw UsageError(fmt::format("{}: a file is expected, not a directory", path));
  }
  const auto home = std::filesystem::path(path).parent_path().string();
  ensure_writable(home.empty() ? "." : home, path);
}

int complain(std::string_view what, Verdict verdict) {
  fmt::print(stderr, "millrace: {}\n", what);
  return exit_code_of(verdict);
}

/// Notes in the case what it is now.
void note(Case& smallest, const Outcome& outcome) {
  smallest.expect = outcome.verdict;
  smallest.build = build_id;
  smallest.trace_hash.reset();
  if (outcome.verdict != Verdict::crashed && outcome.verdict != Verdict::nondeterministic) {
    smallest.trace_hash = outcome.trace_hash;
  }
}

}  // namespace

int shrink_command(const ShrinkFlags& flags, const Jobs& jobs) {
  ShrinkReport report;
  report.file = flags.file;
  report.before = load_case(flags.file);
  report.path = flags.output.empty() ? path_beside(flags.file) : flags.output;
  ensure_place(report.path);

  posix::RealClock clock;
  const posix::StopSignals signals;
  const auto go_on = [&] { return !signals.requested(); };
  CaseRunner runner(report.before.expect == Verdict::nondeterministic, jobs);
  Progress progress(clock, !flags.json);
  const auto seen = runner.run(report.before, go_on);
  if (!seen) return interrupted;
  if (seen->verdict == Verdict::held) {
    return complain(
        fmt::format("{} holds on this build, so there is nothing to shrink", flags.file),
        Verdict::stale);
  }
  const Failure failure = failure_of(*seen);
  properties::ShrinkOptions options;
  options.most_runs = flags.most_runs;
  options.progress = [&](const properties::ShrinkProgress& known) {
    progress.show(known);
    return go_on();
  };
  options.draws_of = [&](const Case& candidate) { return runner.draws_of(candidate, go_on); };
  const auto fails_alike = [&](const Case& candidate) {
    return runner.run_if_alike(candidate, failure, go_on).has_value();
  };
  report.shrunk = shrink(report.before, fails_alike, options);
  progress.end();
  report.seconds = progress.seconds();

  // Twice more, also after a signal: the case is to say what will be seen of it.
  const auto once_more = [&] {
    return runner.run_if_alike(report.shrunk.smallest, failure, [] { return true; });
  };
  const auto first = once_more();
  const auto again = once_more();
  const bool is_same =
      first && again &&
      (failure.verdict == Verdict::nondeterministic || again->trace_hash == first->trace_hash);
  if (!is_same) {
    return complain(fmt::format("the run of a smaller case of {} was another the second time; "
                                "nothing was written",
                                flags.file),
                    Verdict::nondeterministic);
  }
  report.outcome = *again;
  note(report.shrunk.smallest, report.outcome);
  write_case(report.path, report.shrunk.smallest, comments_of(report),
             std::filesystem::path(flags.file).parent_path().string());
  if (flags.json) {
    print_json(report);
  } else {
    print_text(report);
  }
  return report.shrunk.end == Shrunk::End::stopped ? interrupted : 0;
}

}  // namespace millrace::tool
