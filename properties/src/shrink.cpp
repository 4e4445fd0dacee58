#include "millrace/properties/shrink.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "millrace/env/hash.hpp"
#include "millrace/env/int128.hpp"
#include "millrace/faults/simpler.hpp"
#include "millrace/runtime/landmarks.hpp"

#include "fewer_choices.hpp"

namespace millrace::properties {
namespace {

/// A line of an input, with its newline if it has one.
struct Line {
  std::size_t partition;
  std::string_view text;
};

std::vector<Line> lines_of(const Input& input) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < input.partitions.size(); ++i) {
    const std::string_view text = input.partitions[i].text;
    for (std::size_t begin = 0; begin < text.size();) {
      const auto newline = text.find('\n', begin);
      const auto end = newline == std::string_view::npos ? text.size() : newline + 1;
      lines.push_back({i, text.substr(begin, end - begin)});
      begin = end;
    }
  }
  return lines;
}

/// `whole` with no other lines than these.
Input input_of(const Input& whole, const std::vector<Line>& lines) {
  std::vector<std::string> texts(whole.partitions.size());
  for (const Line& line : lines) texts[line.partition] += line.text;
  Input input = whole;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    InputPartition& partition = input.partitions[i];
    if (partition.text == texts[i]) continue;
    partition.text = std::move(texts[i]);
    partition.origin.clear();  // No file begins like this.
  }
  return input;
}

/// What makes two cases the same run.
std::uint64_t fingerprint(const Case& scenario) {
  return checksum(to_text(scenario, {}, [](const std::string& origin) { return origin; }));
}

/// Pieces of the input that are smaller than this part of it wait until nothing else helps: what a
/// large piece takes away in one run, single lines take away in hundreds.
constexpr std::size_t finest_part = 16;
/// A piece that is at least this part of the input is worth some more runs.
constexpr std::size_t large_part = 8;
/// A case with so few lines does not get less by giving up quiet.
constexpr std::uint64_t few_lines = 20;
/// And one with so few is not worth moving a fault.
constexpr std::uint64_t a_handful = 5;
/// So many other seeds are tried when a large piece cannot go; and when nothing else helps.
constexpr std::uint64_t few_seeds = 3;
constexpr std::uint64_t many_seeds = 40;

/// More explicit choices than these tell nobody anything: then the seed says it better.
constexpr std::size_t few_choices = 40;
/// So many runs may pass before a long list of choices has become a short one.
constexpr std::uint64_t most_runs_to_few_choices = 400;

/// When nothing else helps, each of so few is tried with them.
constexpr std::size_t so_few_items = 100;

/// What is tried: all of one before any of the next, which takes more runs.
enum class Effort : std::uint8_t {
  large_pieces,
  single_lines,
  moved_faults,
  more_seeds,
  simpler_faults,
};

std::string worker(std::uint64_t number) { return "worker" + std::to_string(number); }

class Search {
 public:
  Search(const Case& failing, const std::function<bool(const Case&)>& fails_alike,
         const ShrinkOptions& options)
      : best_(failing), arrival_(failing.arrival), fails_alike_(fails_alike), options_(options) {
    best_.build.clear();
    best_.trace_hash.reset();
    tried_.insert(fingerprint(best_));
  }

  Shrunk run() {
    // Faults go first: without them a run is shorter, and what is left of them says which moments
    // the input must still lead to. The input is what takes most runs, so it is cut when nothing is
    // left to chance any more. Until nothing else helps the faults stay as long as they were.
    while (!end_) {
      if (try_hard()) {
        effort_ = Effort::large_pieces;
      } else if (effort_ == Effort::simpler_faults) {
        break;
      } else {
        effort_ = static_cast<Effort>(static_cast<std::uint8_t>(effort_) + 1);
      }
    }
    return {std::move(best_), runs_, end_.value_or(Shrunk::End::smallest)};
  }

 private:
  /// Does what the effort says. Returns whether the case got smaller.
  bool try_hard() {
    const std::uint64_t lines = best_.input.lines();
    switch (effort_) {
      case Effort::large_pieces:
      case Effort::single_lines: return shrink_all();
      case Effort::moved_faults: return lines > a_handful && move_faults();
      case Effort::more_seeds: return lines > few_lines && shrink_all();
      // Last: a short fault needs an input that is there at just its moment.
      case Effort::simpler_faults: return simplify_faults();
    }
    return false;
  }

  bool shrink_all() {
    bool is_smaller = leave_out_faults();
    is_smaller |= leave_out_options();
    is_smaller |= quieten();
    is_smaller |= shrink_input();
    is_smaller |= shrink_cluster();
    return shrink_timing() || is_smaller;
  }

  // Trying.

  /// Runs a candidate, and takes it if it fails alike.
  bool take(Case candidate) {
    const bool is_alike = fails(candidate);
    if (is_alike) best_ = std::move(candidate);
    tell();
    return is_alike;
  }

  /// Runs a candidate, unless it has been run before.
  bool fails(const Case& candidate) {
    return !end_ && tried_.insert(fingerprint(candidate)).second && count_run() &&
           fails_alike_(candidate);
  }

  /// Whether there may be one more run.
  bool count_run() {
    if (runs_ == options_.most_runs) {
      end_ = Shrunk::End::out_of_runs;
      return false;
    }
    ++runs_;
    return true;
  }

  void tell() {
    if (end_ || runs_ == told_) return;
    told_ = runs_;
    if (options_.progress && !options_.progress({runs_, step_, best_})) {
      end_ = Shrunk::End::stopped;
    }
  }

  /// The same, with chance itself as one more thing to change. A bug of interleavings is there in
  /// many of them and in few for long: with less input it is met by other draws.
  bool take_by_any_draws(const Case& candidate) {
    if (take(candidate)) return true;
    if (candidate.is_quiet && candidate.input.lines() <= few_lines) return false;
    Case other = candidate;
    if (effort_ != Effort::more_seeds) return take_by_seeds(other, few_seeds);
    if (take_by_seeds(other, many_seeds)) return true;
    // What comes all at once may be too fast for a fault that has to come in between.
    other.arrival = arrival_;
    return take_by_seeds(other, many_seeds);
  }

  bool take_by_seeds(Case candidate, std::uint64_t seeds) {
    for (candidate.seed = 0; candidate.seed <= seeds; ++candidate.seed) {
      candidate.is_quiet = candidate.seed == 0;
      candidate.choices.clear();
      if (take(candidate)) return true;
    }
    return false;
  }

  /// Leaves out pieces of `items`, at first all of them, at last of the size `finest`; at least
  /// `fewest` items stay. `with` makes the candidate that has only these. Returns whether something
  /// went.
  template <class Item, class With>
  bool leave_out(std::vector<Item> items, std::size_t fewest, std::size_t finest,
                 const With& with) {
    bool is_smaller = false;
    for (std::size_t piece = items.size(); piece >= finest && !end_; piece /= 2) {
      for (std::size_t begin = 0; begin < items.size() && !end_;) {
        const std::size_t end = std::min(begin + piece, items.size());
        std::vector<Item> rest(items.begin(), items.begin() + std::ptrdiff_t(begin));
        rest.insert(rest.end(), items.begin() + std::ptrdiff_t(end), items.end());
        const bool is_large = end - begin >= items.size() / large_part;
        const bool are_few = effort_ == Effort::more_seeds && items.size() <= so_few_items;
        if (rest.size() >= fewest &&
            (is_large || are_few ? take_by_any_draws(with(rest)) : take(with(rest)))) {
          is_smaller = true;
          items = std::move(rest);
        } else {
          begin = end;
        }
      }
    }
    return is_smaller;
  }

  /// Takes the first of `values` whose candidate fails alike, and so on with what then is smaller.
  /// `smaller` lists what could be taken next, `with` makes a candidate.
  template <class Smaller, class With>
  bool replace(const Smaller& smaller, const With& with) {
    bool is_smaller = false;
    for (bool found = true; found && !end_;) {
      const auto values = smaller();
      found = std::any_of(values.begin(), values.end(),
                          [&](const auto& value) { return take(with(value)); });
      is_smaller = is_smaller || found;
    }
    return is_smaller;
  }

  // The steps. Each returns whether the case got smaller.

  bool leave_out_faults() {
    step_ = "plan";
    const faults::Plan whole = best_.plan;
    std::vector<std::size_t> all(whole.faults.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return leave_out(all, 0, 1, [&](const std::vector<std::size_t>& rest) {
      Case candidate = best_;
      // And not without a look at those that follow others: their ordinals change.
      candidate.plan = faults::without(whole, [&rest](std::size_t index) {
        return std::find(rest.begin(), rest.end(), index) == rest.end();
      });
      return candidate;
    });
  }

  /// Puts options of checkpoints and restarts back to what they are by default: all, or else each.
  bool leave_out_options() {
    step_ = "options";
    static const CheckpointOptions checkpoint;
    static const RestartOptions restart;
    using PutBack = void (*)(Case&);
    static constexpr PutBack each[] = {
        [](Case& one) { one.checkpoint.min_pause = checkpoint.min_pause; },
        [](Case& one) { one.checkpoint.timeout = checkpoint.timeout; },
        [](Case& one) { one.checkpoint.tolerable_failures = checkpoint.tolerable_failures; },
        [](Case& one) { one.checkpoint.retained = checkpoint.retained; },
        [](Case& one) { one.restart.strategy = restart.strategy; },
        [](Case& one) { one.restart.delay = restart.delay; },
        [](Case& one) { one.restart.max_delay = restart.max_delay; },
        [](Case& one) { one.restart.attempts = restart.attempts; },
        [](Case& one) { one.restart.within = restart.within; },
    };
    Case plain = best_;
    for (const PutBack put_back : each) put_back(plain);
    if (take(plain)) return true;
    bool is_smaller = false;
    for (const PutBack put_back : each) {
      Case candidate = best_;
      put_back(candidate);
      is_smaller |= take(candidate);
    }
    return is_smaller;
  }

  bool simplify_faults() {
    step_ = "plan";
    bool is_smaller = false;
    for (std::size_t i = 0; i < best_.plan.faults.size(); ++i) {
      is_smaller |= replace([&] { return faults::simpler_than(best_.plan.faults[i]); },
                            [&](const faults::Fault& simpler) {
                              Case candidate = best_;
                              candidate.plan.faults[i] = simpler;
                              return candidate;
                            });
    }
    return is_smaller;
  }

  /// A fault that must fall into a narrow gap, of a few milliseconds between two records, needs
  /// many records for one gap to be there. At another landmark it may need few: each is tried, with
  /// half of the input.
  bool move_faults() {
    step_ = "plan";
    const Input whole = best_.input;
    const std::vector<Line> lines = lines_of(whole);
    const auto middle = lines.begin() + std::ptrdiff_t(lines.size() / 2);
    const Input halves[] = {input_of(whole, {lines.begin(), middle}),
                            input_of(whole, {middle, lines.end()})};
    for (std::size_t i = 0; i < best_.plan.faults.size(); ++i) {
      for (const Landmark* const landmark : landmarks::all) {
        Case candidate = best_;
        Anchor anchor;
        anchor.landmark = landmark->name;
        std::visit([&](auto& fault) { fault.at = anchor; }, candidate.plan.faults[i]);
        for (const Input& half : halves) {
          candidate.input = half;
          if (take(quiet(candidate)) || take(candidate)) return true;
        }
      }
    }
    return false;
  }

  static Case quiet(Case scenario) {
    scenario.is_quiet = true;
    scenario.seed = 0;  // It decides nothing any more.
    return scenario;
  }

  bool quieten() {
    step_ = "draws";
    const bool is_quieter = !best_.is_quiet && (take(quiet(best_)) || choose());
    return leave_out_choices() || is_quieter;
  }

  /// Takes the draws that matter as explicit choices instead of the seed, if they are few.
  bool choose() {
    // A list that was too long gets short when there is much less to list.
    const std::uint64_t lines = best_.input.lines();
    if (!options_.draws_of || end_ || (lines_unchosen_ && lines > *lines_unchosen_ / 2) ||
        !count_run()) {
      return false;
    }
    Case candidate = quiet(best_);
    candidate.choices.clear();
    for (sim::Drawn& drawn : options_.draws_of(best_)) {
      candidate.choices.push_back(std::move(drawn.choice));
    }
    tell();
    const std::uint64_t last_run = runs_ + most_runs_to_few_choices;
    Case trial = candidate;
    const auto still_fails = [&](const std::vector<sim::Choice>& choices) {
      if (runs_ >= last_run && choices.size() > few_choices) return false;
      trial.choices = choices;
      const bool is_alike = fails(trial);
      tell();
      return is_alike;
    };
    if (still_fails(candidate.choices)) {
      candidate.choices = fewer_choices(std::move(candidate.choices), still_fails);
      if (candidate.choices.size() <= few_choices) {
        best_ = std::move(candidate);
        return true;
      }
    }
    lines_unchosen_ = lines;
    return false;
  }

  bool leave_out_choices() {
    const std::vector<sim::Choice> before = best_.choices;
    if (before.empty()) return false;
    (void)fewer_choices(before, [this](const std::vector<sim::Choice>& choices) {
      Case candidate = best_;
      candidate.choices = choices;
      return take(std::move(candidate));
    });
    return best_.choices != before;
  }

  bool shrink_input() {
    step_ = "input";
    bool is_smaller =
        leave_out(best_.input.partitions, 1, 1, [&](const std::vector<InputPartition>& rest) {
          Case candidate = best_;
          candidate.input.partitions = rest;
          return candidate;
        });
    const Input whole = best_.input;
    const std::vector<Line> lines = lines_of(whole);
    const std::size_t part = effort_ == Effort::large_pieces ? finest_part : lines.size() + 1;
    const std::size_t finest = std::max<std::size_t>(1, lines.size() / part);
    is_smaller |= leave_out(lines, 0, finest, [&](const std::vector<Line>& rest) {
      Case candidate = best_;
      candidate.input = input_of(whole, rest);
      return candidate;
    });
    return is_smaller;
  }

  bool shrink_cluster() {
    step_ = "cluster";
    bool is_smaller = replace([&] { return faults::lower_than(best_.cluster.workers, 1); },
                              [&](std::uint64_t workers) { return with_workers(workers); });
    is_smaller |= replace([&] { return faults::lower_than(best_.cluster.parallelism, 1); },
                          [&](std::uint64_t parallelism) {
                            Case candidate = best_;
                            candidate.cluster.parallelism = static_cast<std::uint32_t>(parallelism);
                            return candidate;
                          });
    return is_smaller;
  }

  /// With fewer workers. What happened to one that is no more happens to the last that is there.
  Case with_workers(std::uint64_t workers) const {
    Case candidate = best_;
    candidate.cluster.workers = static_cast<std::uint32_t>(workers);
    for (std::uint64_t gone = workers + 1; gone <= best_.cluster.workers; ++gone) {
      for (faults::Fault& fault : candidate.plan.faults) {
        if (node_of(fault) != worker(gone)) continue;
        std::visit([&](auto& one) { one.node = worker(workers); }, fault);
      }
    }
    return candidate;
  }

  bool shrink_timing() {
    step_ = "timing";
    const auto shorter = [&] { return shorter_arrivals(); };
    bool is_smaller = replace(shorter, [&](std::chrono::nanoseconds arrival) {
      Case candidate = best_;
      candidate.arrival = arrival;
      return candidate;
    });
    // Faults at instants that come as early as the records do.
    is_smaller |= replace(shorter, [&](std::chrono::nanoseconds arrival) {
      Case candidate = best_;
      candidate.arrival = arrival;
      for (faults::Fault& fault : candidate.plan.faults) {
        std::visit([&](auto& one) { hasten(one.at, arrival, best_.arrival); }, fault);
      }
      return candidate;
    });
    return is_smaller;
  }

  std::vector<std::chrono::nanoseconds> shorter_arrivals() const {
    auto spans = faults::shorter_than(best_.arrival);
    if (best_.arrival.count() != 0) spans.insert(spans.begin(), std::chrono::nanoseconds(0));
    return spans;
  }

  static void hasten(faults::Moment& moment, std::chrono::nanoseconds now,
                     std::chrono::nanoseconds before) {
    auto* const instant = std::get_if<Instant>(&moment);
    if (instant == nullptr) return;
    const auto scaled = static_cast<Int128>(instant->ns) * now.count() / before.count();
    instant->ns = static_cast<std::int64_t>(scaled);
  }

  Case best_;
  std::chrono::nanoseconds arrival_;  ///< As it was at first.
  const std::function<bool(const Case&)>& fails_alike_;
  const ShrinkOptions& options_;
  std::set<std::uint64_t> tried_;                ///< Fingerprints.
  std::optional<std::uint64_t> lines_unchosen_;  ///< Of the last case that took too many choices.
  std::uint64_t runs_ = 0;
  std::uint64_t told_ = 0;  ///< Of `runs_`, by `progress`.
  std::string_view step_;
  Effort effort_ = Effort::large_pieces;
  std::optional<Shrunk::End> end_;  ///< Before nothing helped any more.
};

}  // namespace

Failure failure_of(const Outcome& outcome) {
  Failure failure{outcome.verdict, ""};
  if (outcome.verdict == Verdict::violated) {
    for (const Breach& breach : outcome.breaches) {
      // Without the place in the source, which stands behind the sentence.
      if (breach.judge == "invariants") failure.by = breach.what.substr(0, breach.what.rfind(" ("));
    }
  } else if (outcome.verdict == Verdict::refused) {
    failure.by = outcome.reason.substr(0, outcome.reason.find(':'));
  } else if (!outcome.breaches.empty()) {
    failure.by = outcome.breaches.front().judge;
  }
  return failure;
}

Shrunk shrink(const Case& failing, const std::function<bool(const Case&)>& fails_alike,
              const ShrinkOptions& options) {
  return Search(failing, fails_alike, options).run();
}

}  // namespace millrace::properties
