#include <stdexcept>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "corpus_subject.hpp"
#include "mini_job.hpp"
#include "simulator.hpp"

namespace millrace::bench {
namespace {

using properties::Case;
using properties::DatabaseKind;
using properties::Outcome;
using properties::Subject;

constexpr int rounds = 5;
constexpr std::uint64_t records = 1'000;
constexpr std::uint64_t checkpoints = 10;
constexpr std::size_t cases_per_round = 100;
constexpr std::uint64_t least_runs = 1'000;

const Subject& subject() {
  static const Subject feed = tests::corpus_subject("quakes_feed", records);
  return feed;
}

Outcome run(const Case& scenario, sim::StackPool& stacks) {
  Outcome outcome = properties::run_case(scenario, subject(), stacks);
  if (outcome.verdict != properties::Verdict::held) {
    throw std::runtime_error(fmt::format("the run of seed {:013x} has not held", scenario.seed));
  }
  return outcome;
}

/// Cases as campaigns generate them, of ten checkpoints of input each, in which somebody dies.
std::vector<Case> crashing_cases(DatabaseKind database, sim::StackPool& stacks) {
  std::vector<Case> cases;
  for (std::uint64_t i = 0; cases.size() < cases_per_round; ++i) {
    Case made =
        properties::generate_case(subject().spec, subject().input, properties::run_seed(1, i));
    made.input = {};  // The subject's counts.
    made.arrival = made.checkpoint.interval * checkpoints;
    made.cluster.database = database;
    const auto statistics = run(made, stacks).statistics;
    const auto deaths = statistics.firings[0] + statistics.firings[1];
    static_assert(std::is_same_v<std::variant_alternative_t<0, faults::Fault>, faults::Kill>);
    static_assert(std::is_same_v<std::variant_alternative_t<1, faults::Fault>, faults::PowerLoss>);
    if (deaths != 0 && statistics.checkpoints == checkpoints) cases.push_back(std::move(made));
  }
  return cases;
}

void bench_runs_with(const Report& report, const std::string& name, DatabaseKind database,
                     std::unique_ptr<MiniTable> (*make_mini_table)(), Bound required, Bound goal) {
  if (!report.wants(name)) return;
  sim::StackPool stacks;
  const std::vector<Case> cases = crashing_cases(database, stacks);
  const auto runs_per_second = [&] {
    const double seconds = seconds_of([&] {
      for (const Case& scenario : cases) run(scenario, stacks);
    });
    return static_cast<double>(cases.size()) / seconds;
  };
  const auto least_runs_per_second = [&] {
    const double seconds = seconds_of([&] {
      for (std::uint64_t seed = 0; seed < least_runs; ++seed) {
        run_mini_job(seed, *make_mini_table());
      }
    });
    return static_cast<double>(least_runs) / seconds;
  };
  const auto [value, floor] = medians_of(rounds, runs_per_second, least_runs_per_second);
  report.add({name, "runs/s", value, floor, required, goal});
}

}  // namespace

void bench_runs(const Report& report) {
  bench_runs_with(report, "sim/runs-mem", DatabaseKind::memory, make_memory_mini_table,
                  at_least(300), at_least(1000));
  bench_runs_with(report, "sim/runs-sqlite", DatabaseKind::sqlite, make_sqlite_mini_table,
                  at_least(100), at_least(250));
}

}  // namespace millrace::bench
