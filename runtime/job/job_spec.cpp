#include "millrace/runtime/job_spec.hpp"

#include <algorithm>

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
  return {sink, schema, std::nullopt};
}

}  // namespace

bool is_row_step(const StepWork& work) {
  return !std::holds_alternative<WindowSpec>(work) && !std::holds_alternative<JoinSpec>(work);
}

std::vector<Field> fields_after(const StepWork& work, std::vector<Field> before) {
  if (const auto* window = std::get_if<WindowSpec>(&work)) return fields_of_result(*window, before);
  if (const auto* join = std::get_if<JoinSpec>(&work)) {
    std::vector<Field> made;
    for (const JoinColumn& column : join->columns) made.push_back(column.made);
    return made;
  }
  if (const auto* keep = std::get_if<KeepSpec>(&work)) {
    std::vector<Field> kept;
    for (const std::uint32_t field : keep->fields) kept.push_back(before[field]);
    return kept;
  }
  if (const auto* set = std::get_if<SetSpec>(&work)) {
    for (const Assignment& one : set->assignments) {
      before.resize(std::max<std::size_t>(before.size(), one.field + 1));
      before[one.field] = {one.name, one.value.type, one.value.nullable};
    }
  }
  return before;
}

std::vector<std::vector<Field>> fields_of_rows(const JobSpec& spec) {
  std::vector<std::vector<Field>> rows;
  for (const SourceSpec& source : spec.sources) rows.push_back(source.fields);
  for (const StepSpec& step : spec.steps) {
    rows.push_back(fields_after(step.work, rows[step.inputs.front()]));
  }
  return rows;
}

std::vector<Field> fields_of_result(const WindowSpec& window, const std::vector<Field>& rows) {
  std::vector<Field> fields;
  const auto add = [&fields](const char* name) {
    fields.push_back({name, FieldType::integer, false});
  };
  if (window.top) {
    for (const char* const name : {"window_start", "window_end", "rank"}) add(name);
    fields.insert(fields.end(), rows.begin(), rows.end());
    fields[3 + window.top->by].nullable = false;
    return fields;
  }
  for (const std::uint32_t number : window.key) fields.push_back(rows[number]);
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

std::string operator_name(const StepSpec& step) {
  if (!step.name.empty()) return step.name;
  return std::holds_alternative<JoinSpec>(step.work) ? "join" : "window";
}

std::vector<JobTable> tables_of(const JobSpec& spec) {
  const std::vector<std::vector<Field>> rows = fields_of_rows(spec);
  std::vector<JobTable> tables;
  for (const SinkSpec& sink : spec.sinks) {
    tables.push_back(table_of(sink, rows[sink.inputs.front()]));
  }
  for (std::size_t i = 0; i < spec.steps.size(); ++i) {
    const auto* const window = std::get_if<WindowSpec>(&spec.steps[i].work);
    if (window == nullptr || !window->late) continue;
    tables.push_back(table_of(*window->late, rows[spec.steps[i].inputs.front()]));
    tables.back().late_of = i;
  }
  return tables;
}

}  // namespace millrace
