#include "millrace/env/error.hpp"
#include "millrace/runtime/job_spec.hpp"
#include "millrace/runtime/source/csv_rows.hpp"
#include "millrace/runtime/source/json_rows.hpp"
#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/trigger.hpp"

#include "row_sinks.hpp"
#include "row_steps.hpp"

namespace millrace {
namespace {

Source<Row> rows_of(const SourceSpec& source) {
  WrittenRows rows{source.address, source.fields, source.event_time, source.on_bad_record};
  switch (source.format) {
    case RowFormat::jsonl: return json_rows(std::move(rows));
    case RowFormat::csv: return csv_rows(std::move(rows));
  }
  violated("files hold rows in some format", Where::here());
}

/// Whether a row passes all filters.
struct KeepRow {
  std::vector<Condition> conditions;
  bool operator()(const Row& row) const {
    for (const Condition& condition : conditions) {
      if (!condition(row)) return false;
    }
    return true;
  }
};

/// The fields of a row that are its key.
struct KeyOfRow {
  std::vector<std::uint32_t> fields;
  std::vector<FieldType> types;
  Row operator()(const Row& row) const {
    Row key(static_cast<std::uint32_t>(fields.size()));
    for (std::uint32_t i = 0; i < fields.size(); ++i) key.copy(i, row, fields[i], types[i]);
    return key;
  }
};

KeyOfRow key_of(const WindowSpec& window, const std::vector<Field>& rows) {
  KeyOfRow key{window.key, {}};
  for (const std::uint32_t number : window.key) key.types.push_back(rows[number].type);
  return key;
}

/// The ends of a job from its window on.
class WindowEnds {
 public:
  explicit WindowEnds(const JobSpec& spec)
      : spec_(spec), window_(*spec.window), rows_(fields_of_rows(spec)) {}

  template <class Keyed>
  std::vector<End> of(const Keyed& keyed) const {
    const WindowShape& shape = window_.shape;
    switch (shape.kind) {
      case WindowShape::Kind::tumbling:
        return ends(keyed.window(tumbling(shape.size, shape.offset)));
      case WindowShape::Kind::sliding:
        return ends(keyed.window(sliding(shape.size, shape.slide, shape.offset)));
      case WindowShape::Kind::sessions: return ends(keyed.window(sessions(shape.size)));
      case WindowShape::Kind::global:
        return {results(
            keyed.window(global()).trigger(every_rows(shape.every)).aggregate("window", fold()))};
    }
    violated("a window is of a kind", Where::here());
  }

 private:
  template <class Windowing>
  std::vector<End> ends(const Windowing& windows) const {
    const auto windowed = windows.allow_lateness(window_.allowed_lateness);
    if (!spec_.late) return {results(windowed.aggregate("window", fold()))};
    const auto [on_time, late] = windowed.aggregate_and_late("window", fold());
    return {results(on_time), late.to("late", sink_of_rows(tables_of(spec_)[1], rows_))};
  }
  End results(const Stream<Windowed<Row, Row>>& results) const {
    return results.to("sink", sink_of_results(tables_of(spec_)[0], window_, rows_));
  }
  RowAggregate fold() const { return {window_.aggregates, rows_}; }

  const JobSpec& spec_;
  const WindowSpec& window_;
  std::vector<Field> rows_;
};

/// What becomes of the rows that the steps let out.
template <class Rows>
std::vector<End> ends_of(const JobSpec& spec, const Rows& rows) {
  const std::vector<Field> fields = fields_of_rows(spec);
  if (spec.window) return WindowEnds(spec).of(rows.key_by(key_of(*spec.window, fields)));
  return {rows.to("sink", sink_of_rows(tables_of(spec).front(), fields))};
}

}  // namespace

Job build_job(const JobSpec& spec) {
  const SourceSpec& source = spec.source;
  auto unstamped = from("source", rows_of(source));
  if (source.idle_after) unstamped = unstamped.idle_after(*source.idle_after);
  const auto read = unstamped.event_time(source.event_time, disorder(source.disorder));
  // Filters in front need no row of their own.
  KeepRow keep;
  auto step = spec.steps.begin();
  for (; step != spec.steps.end() && std::holds_alternative<FilterSpec>(*step); ++step) {
    keep.conditions.emplace_back(std::get<FilterSpec>(*step).expression);
  }
  const auto kept = read.filter(std::move(keep));
  const auto ends = [&] {
    if (step == spec.steps.end()) return ends_of(spec, kept);
    return ends_of(spec,
                   Stream<Row>(kept.flat_map(RowSteps({step, spec.steps.end()}, source.fields))));
  }();
  Job job(spec.name, ends);
  job.set_fingerprint(fingerprint_of(spec));
  return job;
}

}  // namespace millrace
