#include "millrace/properties/campaign.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "millrace/properties/first_difference.hpp"

#include "campaign_wire.hpp"

namespace millrace::properties {
namespace {

/// A worker process sums up so many runs before it tells.
constexpr std::uint64_t runs_per_line = 16;

/// So many runs that differ are looked into.
constexpr std::size_t most_differences = 3;

/// Lines of a worker process begin with one of these.
constexpr char at_seed = '@';  ///< Which seed it is at; so that its death can be placed.
constexpr char part = '{';     ///< A part of the report, as JSON.
constexpr char told = '=';     ///< Every run of its before this one is in what it told.
constexpr char trace = '#';    ///< Seed and trace hash, for the comparison of processes.

struct SeedAndHash {
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;
};

std::string trace_line(SeedAndHash seen) {
  return fmt::format("{}{:x} {:x}", trace, seen.seed, seen.hash);
}

SeedAndHash parse_trace_line(std::string_view line) {
  SeedAndHash seen;
  const auto space = line.find(' ');
  std::from_chars(line.data() + 1, line.data() + space, seen.seed, 16);
  std::from_chars(line.data() + space + 1, line.data() + line.size(), seen.hash, 16);
  return seen;
}

class Campaign {
 public:
  Campaign(const SubjectOf& subject_of, const CampaignOptions& options, Workers& workers,
           const std::function<bool(const CampaignReport&)>& progress)
      : subject_of_(subject_of), options_(options), workers_(workers), progress_(progress) {}

  CampaignReport run() {
    run_pass(false);
    if (options_.check_determinism && !ended_) run_pass(true);
    std::sort(report_.findings.begin(), report_.findings.end(),
              [](const Finding& a, const Finding& b) { return a.seed < b.seed; });
    name_first_differences();
    return std::move(report_);
  }

 private:
  std::uint64_t run_count() const { return options_.only_seed ? 1 : options_.seeds; }
  std::uint64_t seed_of(std::uint64_t index) const {
    return options_.only_seed.value_or(run_seed(options_.campaign_seed, index));
  }

  /// All runs once. The second time only their traces are compared with the first.
  void run_pass(bool is_second) {
    const int jobs = static_cast<int>(
        std::min<std::uint64_t>(static_cast<std::uint64_t>(options_.jobs), run_count()));
    progress_of_.assign(static_cast<std::size_t>(jobs), Progress{});
    for (std::size_t i = 0; i < progress_of_.size(); ++i) progress_of_[i].next = i;
    workers_.run(
        jobs,
        [&](int index, const std::function<void(std::string_view)>& say) {
          return work(static_cast<std::size_t>(index), is_second, say);
        },
        [&](int index, std::string_view line) {
          hear(static_cast<std::size_t>(index), is_second, line);
        },
        [&](const ChildEnd& end) { return note_end(end, is_second); },
        [&] {
          ended_ = ended_ || !progress_(report_);
          return !ended_;
        });
  }

  // In the worker process.

  int work(std::size_t worker, bool is_second, const std::function<void(std::string_view)>& say) {
    sim::StackPool stacks;
    CampaignReport pending;
    const auto tell = [&](std::uint64_t next) {
      if (pending.runs != 0) say(to_line(pending));
      say(fmt::format("{}{}", told, next));
      pending = {};
    };
    const std::uint64_t first = progress_of_[worker].next;
    const std::uint64_t count =
        first < run_count() ? (run_count() - first - 1) / progress_of_.size() + 1 : 0;
    for (std::uint64_t nth = 0; nth < count; ++nth) {
      // The second time in the opposite order: what a run leaves behind in its process would else
      // be there for the same runs again.
      const std::uint64_t i = first + progress_of_.size() * (is_second ? count - 1 - nth : nth);
      if (deadly_.contains(i)) continue;
      const std::uint64_t seed = seed_of(i);
      say(fmt::format("{}{}", at_seed, i));
      const auto subject = subject_of_(seed);
      const Case scenario = generate_case(*subject, seed);
      const Outcome outcome = run_case(scenario, *subject, stacks);
      if (options_.check_determinism) say(trace_line({seed, outcome.trace_hash}));
      if (is_second) continue;
      add_outcome(pending, seed, scenario.plan.faults.size(), outcome);
      if (options_.only_seed && outcome.verdict == Verdict::held) {
        pending.findings.push_back({seed, outcome});
      }
      if (pending.runs == runs_per_line || outcome.verdict != Verdict::held) {
        tell(i + progress_of_.size());
      }
    }
    tell(run_count());
    return 0;
  }

  // In the parent.

  void hear(std::size_t worker, bool is_second, std::string_view line) {
    if (line.front() == at_seed) {
      std::uint64_t index = 0;
      std::from_chars(line.data() + 1, line.data() + line.size(), index);
      progress_of_[worker].at = index;
    } else if (line.front() == part) {
      add_line(report_, line);
    } else if (line.front() == told) {
      std::from_chars(line.data() + 1, line.data() + line.size(), progress_of_[worker].next);
    } else if (line.front() == trace) {
      const SeedAndHash seen = parse_trace_line(line);
      if (!is_second) {
        hashes_[seen.seed] = seen.hash;
      } else if (hashes_[seen.seed] != seen.hash) {
        note_difference(seen);
      }
    }
  }

  void note_difference(SeedAndHash seen) {
    Outcome outcome;
    outcome.verdict = Verdict::nondeterministic;
    outcome.trace_hash = hashes_[seen.seed];
    outcome.breaches.push_back(
        {"determinism", fmt::format("one process gave the trace hash {:016x}, another {:016x}",
                                    hashes_[seen.seed], seen.hash)});
    note_of_second(seen.seed, std::move(outcome));
  }

  /// Of the first few: each takes three more runs.
  void name_first_differences() {
    std::size_t named = 0;
    for (Finding& finding : report_.findings) {
      if (finding.outcome.verdict != Verdict::nondeterministic || ++named > most_differences)
        continue;
      const auto subject = subject_of_(finding.seed);
      const Case scenario = generate_case(*subject, finding.seed);
      const auto difference = find_first_difference(scenario, *subject, workers_);
      finding.outcome.breaches.front().what +=
          "; " + (difference ? to_text(*difference)
                             : std::string("alone in a process it runs the same again"));
    }
  }

  /// The run itself is counted already.
  void note_of_second(std::uint64_t seed, Outcome outcome) {
    ++report_.verdicts[static_cast<std::size_t>(outcome.verdict)];
    ++report_.judges[outcome.breaches.front().judge];
    report_.findings.push_back({seed, std::move(outcome)});
  }

  bool note_end(const ChildEnd& end, bool is_second) {
    if (end.signal == 0 && end.exit_code == 0) return false;
    Progress& progress = progress_of_[static_cast<std::size_t>(end.index)];
    if (!progress.at) return false;  // It never came so far as to run anything.
    Outcome outcome = outcome_of_dead(end);
    if (is_second) {
      note_of_second(seed_of(*progress.at), std::move(outcome));
    } else {
      add_outcome(report_, seed_of(*progress.at), 0, outcome);
    }
    // Its successor runs again what it had not told, but for the run that killed it.
    deadly_.insert(*progress.at);
    progress.at.reset();
    return true;
  }

  struct Progress {
    std::uint64_t next = 0;           ///< The first run that is not told of.
    std::optional<std::uint64_t> at;  ///< Which run it was heard to be at.
  };

  const SubjectOf& subject_of_;
  const CampaignOptions& options_;
  Workers& workers_;
  const std::function<bool(const CampaignReport&)>& progress_;
  CampaignReport report_;
  std::vector<Progress> progress_of_;
  std::unordered_map<std::uint64_t, std::uint64_t> hashes_;  ///< By seed; looked up, never walked.
  std::set<std::uint64_t> deadly_;                           ///< Runs that killed their process.
  bool ended_ = false;
};

}  // namespace

void Tally::add(const Tally& other) {
  for (const auto& [number, count] : other.counts_) counts_[number] += count;
}

std::uint64_t Tally::median() const {
  std::uint64_t all = 0;
  for (const auto& [number, count] : counts_) all += count;
  std::uint64_t seen = 0;
  for (const auto& [number, count] : counts_) {
    seen += count;
    if (2 * seen >= all) return number;
  }
  return 0;
}

Verdict CampaignReport::verdict() const {
  for (const Verdict worst :
       {Verdict::violated, Verdict::crashed, Verdict::nondeterministic, Verdict::breached,
        Verdict::no_progress, Verdict::failed, Verdict::refused}) {
    if (verdicts[static_cast<std::size_t>(worst)] != 0) return worst;
  }
  return Verdict::held;
}

CampaignReport run_campaign(const SubjectOf& subject_of, const CampaignOptions& options,
                            Workers& workers,
                            const std::function<bool(const CampaignReport&)>& progress) {
  return Campaign(subject_of, options, workers, progress).run();
}

CampaignReport run_campaign(const Subject& subject, const CampaignOptions& options,
                            Workers& workers,
                            const std::function<bool(const CampaignReport&)>& progress) {
  const std::shared_ptr<const Subject> same(&subject, [](const Subject*) {});  // Owns nothing.
  return run_campaign([&same](std::uint64_t) { return same; }, options, workers, progress);
}

}  // namespace millrace::properties
