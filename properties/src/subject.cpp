#include "millrace/properties/subject.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/properties/experiment.hpp"
#include "millrace/properties/visibility.hpp"
#include "millrace/runtime/job/node.hpp"

namespace millrace::properties {
namespace {

using namespace std::chrono_literals;

using Tables = std::vector<std::vector<OwnedRow>>;

std::string simulated_input(const std::string& path) {
  const auto slash = path.rfind('/');
  return input_directory + (slash == std::string::npos ? path : path.substr(slash + 1));
}

/// Of several sources, each in a directory of its own.
std::string simulated_input(const JobSpec& spec, const SourceSpec& source) {
  const std::string whole = simulated_input(source.address);
  const std::string name = whole.substr(std::string_view(input_directory).size());
  return input_directory + partition_name(spec, source.name, name);
}

/// There is one database.
void expect_different_tables(const JobSpec& spec) {
  std::set<std::string> names;
  for (const JobTable& table : millrace::tables_of(spec)) {
    if (names.insert(table.schema.table).second) continue;
    throw UsageError(
        fmt::format("two tables are called `{}`, and the simulator has one database: "
                    "names of their own are expected",
                    table.schema.table));
  }
}

/// The input of a run arrives within seconds, in bursts and pauses, so patience must be short
/// there.
constexpr Duration simulated_idle_after{200};

JobSpec in_simulated_world(JobSpec spec) {
  for (SourceSpec& source : spec.sources) {
    source.address = simulated_input(spec, source);
    if (source.idle_after) source.idle_after = std::min(*source.idle_after, simulated_idle_after);
  }
  expect_different_tables(spec);
  for (SinkSpec& sink : spec.sinks) sink.database = sink_database;
  for (StepSpec& step : spec.steps) {
    auto* const window = std::get_if<WindowSpec>(&step.work);
    if (window != nullptr && window->late) window->late->database = sink_database;
  }
  return spec;
}

/// Every table of a job, with nothing known about its rows.
std::vector<SubjectTable> tables_of(const Job& job) {
  std::vector<SubjectTable> tables;
  for (const Node* node : job.nodes()) {
    if (!node->sink) continue;
    tables.push_back({node->name, node->sink->schema, Reference(node->sink->schema, {}), false});
  }
  return tables;
}

/// Nothing goes wrong in it, and nothing is left to chance; one subtask of everything.
Case quiet_case(const Subject& subject) {
  Case made = calm_case(subject, 0);
  made.is_quiet = true;
  made.cluster = {1, 1, DatabaseKind::memory};
  return made;
}

/// What a calm run shows in the end; and which effects it asked for, if that is wanted.
Tables rows_of(const Case& scenario, const Subject& subject, EffectCounts* effects = nullptr) {
  sim::StackPool stacks;
  Tables tables(subject.tables.size());
  Observers observers;
  observers.on_rows = [&](std::size_t table, std::vector<OwnedRow> rows) {
    std::sort(rows.begin(), rows.end());
    tables[table] = std::move(rows);
  };
  observers.on_effects = [effects](const EffectCounts& asked) {
    if (effects != nullptr) *effects = asked;
  };
  const Outcome outcome = run_case(scenario, subject, stacks, observers);
  if (outcome.verdict == Verdict::held || outcome.verdict == Verdict::breached) return tables;
  std::string why = outcome.reason;
  for (const Breach& breach : outcome.breaches) why += (why.empty() ? "" : "; ") + breach.what;
  throw JobFailed(
      fmt::format("{}, without any fault: {} ({})", subject.name, to_text(outcome.verdict), why));
}

/// The first row in which two runs differ.
std::optional<std::string> compare(const Subject& subject, const Tables& quiet, const Tables& other,
                                   std::uint64_t seed) {
  for (std::size_t i = 0; i < quiet.size(); ++i) {
    const Reference reference(subject.tables[i].schema, quiet[i]);
    const RowComparison comparison =
        compare_rows(reference, quiet[i].size(), quiet[i].size(), other[i]);
    if (comparison.counts.wrong() == 0) continue;
    std::string what = fmt::format(
        "table {}: without faults, seed {:013x} shows other rows than the "
        "quiet run",
        subject.tables[i].schema.table, seed);
    for (const std::string& example : comparison.examples) what += "; " + example;
    return what;
  }
  return std::nullopt;
}

std::vector<OwnedRow> rows_for(const std::string& sink, std::vector<ExpectedRows>& expected) {
  const auto found = std::find_if(expected.begin(), expected.end(),
                                  [&](const ExpectedRows& rows) { return rows.sink == sink; });
  if (found == expected.end()) {
    throw UsageError(fmt::format("the reference says nothing of the sink `{}`", sink));
  }
  return std::move(found->rows);
}

}  // namespace

const UserJob* find_job(const std::vector<UserJob>& jobs, std::string_view name) {
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const UserJob& job) { return job.name == name; });
  return found == jobs.end() ? nullptr : &*found;
}

Subject::Subject(const JobSpec& job_spec, const Input& job_input)
    : name(job_spec.name),
      written(job_spec),
      spec(in_simulated_world(job_spec)),
      input(job_input),
      job(build_job(spec)) {
  std::vector<Reference> references = Reference::of_tables(spec, input);
  for (const JobTable& table : millrace::tables_of(spec)) {
    tables.push_back({table.sink.name, table.schema, std::move(references[tables.size()]),
                      table.late_of.has_value()});
  }
}

Subject::Subject(const UserJob& user_job, const Input& job_input)
    : name(user_job.name),
      registered(user_job.name),
      input(job_input),
      job(user_job.make({simulated_input(user_job.places.input), sink_database})),
      tables(tables_of(job)) {
  const Tables quiet = rows_of(quiet_case(*this), *this, &calm_effects);
  if (user_job.reference != nullptr) {
    std::vector<ExpectedRows> expected = user_job.reference(input);
    for (SubjectTable& table : tables) {
      table.reference = Reference(table.schema, rows_for(table.sink, expected));
    }
    return;
  }
  for (std::uint64_t i = 0; i < calm_schedules && !interleaving; ++i) {
    const std::uint64_t seed = run_seed(0, i);
    interleaving = compare(*this, quiet, rows_of(calm_case(*this, seed), *this), seed);
    if (interleaving) differing_seed = seed;
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].reference = Reference(tables[i].schema, quiet[i]);
  }
}

Case calm_case(const Subject& subject, std::uint64_t seed) {
  Case made = generate_case(subject, seed);
  made.plan.faults.clear();
  return made;
}

std::uint64_t Subject::records() const {
  return registered.empty() ? reference().records() : input.lines();
}

}  // namespace millrace::properties
