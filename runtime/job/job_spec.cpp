#include "millrace/runtime/job_spec.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"

#include "row_step.hpp"
#include "window_step.hpp"

namespace millrace {
namespace {

TableSchema::Type column_type(FieldType type) {
  switch (type) {
    case FieldType::integer: return TableSchema::Type::integer;
    case FieldType::real: return TableSchema::Type::real;
    case FieldType::text: return TableSchema::Type::text;
  }
  return TableSchema::Type::text;
}

JobTable table_of(const SinkSpec& sink, const std::vector<Field>& fields) {
  TableSchema schema;
  schema.table = sink.table;
  for (const Field& field : fields) {
    schema.columns.push_back({field.name, column_type(field.type), field.nullable});
  }
  schema.key = sink.key;
  schema.unique_key = sink.unique_key;
  schema.mode = sink.mode;
  return {sink, schema};
}

}  // namespace

std::vector<Field> fields_after(const StepSpec& step, std::vector<Field> before) {
  if (const auto* keep = std::get_if<KeepSpec>(&step)) {
    std::vector<Field> kept;
    for (const std::uint32_t field : keep->fields) kept.push_back(before[field]);
    return kept;
  }
  if (const auto* set = std::get_if<SetSpec>(&step)) {
    for (const Assignment& one : set->assignments) {
      before.resize(std::max<std::size_t>(before.size(), one.field + 1));
      before[one.field] = {one.name, one.value.type, one.value.nullable};
    }
  }
  return before;
}

std::vector<Field> fields_of_rows(const JobSpec& spec) {
  std::vector<Field> fields = spec.source.fields;
  for (const StepSpec& step : spec.steps) fields = fields_after(step, std::move(fields));
  return fields;
}

std::vector<Field> fields_of_result(const WindowSpec& window, const std::vector<Field>& rows) {
  std::vector<Field> fields;
  for (const std::uint32_t number : window.key) fields.push_back(rows[number]);
  const auto add = [&fields](const char* name) {
    fields.push_back({name, FieldType::integer, false});
  };
  if (window.has_bounds()) {
    add("window_start");
    add("window_end");
  }
  if (window.has_panes()) add("pane");
  for (const AggregateColumn& column : window.aggregates) {
    fields.push_back(result_field(column, rows));
  }
  return fields;
}

std::vector<JobTable> tables_of(const JobSpec& spec) {
  const std::vector<Field> rows = fields_of_rows(spec);
  std::vector<JobTable> tables{
      table_of(spec.sink, spec.window ? fields_of_result(*spec.window, rows) : rows)};
  if (spec.late) tables.push_back(table_of(*spec.late, rows));
  return tables;
}

std::vector<FingerprintPart> fingerprint_of(const JobSpec& spec) {
  const SourceSpec& source = spec.source;
  std::vector<std::string> fields;
  for (const Field& field : source.fields) fields.push_back(describe(field));
  std::vector<FingerprintPart> parts{
      {"source.format", std::string(describe(source.format))},
      {"source.files", source.files},
      {"source.fields", fmt::format("{}", fmt::join(fields, ", "))},
      {"source.event_time", source.fields[source.event_time.field].name},
      {"source.disorder", describe(source.disorder)},
      {"source.on_bad_record", describe(source.on_bad_record)},
  };
  if (source.event_time.format != TimeFormat::ms) {
    parts.push_back({"source.event_time_format", std::string(describe(source.event_time.format))});
  }
  std::map<std::string, int> counts;
  for (const StepSpec& step : spec.steps) {
    FingerprintPart part = fingerprint_part(step);
    part.key += fmt::format(" {}", ++counts[part.key]);
    parts.push_back(std::move(part));
  }
  if (spec.window) add_fingerprint(*spec.window, fields_of_rows(spec), parts);
  const auto add_sink = [&parts](const char* name, const SinkSpec& sink) {
    parts.push_back({fmt::format("{}.table", name), sink.table});
    parts.push_back({fmt::format("{}.mode", name), std::string(describe(sink.mode))});
  };
  if (spec.late) add_sink("late", *spec.late);
  add_sink("sink", spec.sink);
  parts.push_back({"sink.key", fmt::format("{}", fmt::join(spec.sink.key, ", "))});
  return parts;
}

}  // namespace millrace
