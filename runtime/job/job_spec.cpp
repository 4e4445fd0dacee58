#include "millrace/runtime/job_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/table_sink.hpp"

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

std::vector<Field> key_fields(const JobSpec& spec) {
  std::vector<Field> fields;
  for (const std::uint32_t number : spec.key) fields.push_back(spec.fields[number]);
  return fields;
}

std::vector<Field> result_fields(const JobSpec& spec) {
  std::vector<Field> fields;
  for (const AggregateColumn& column : spec.aggregates) {
    fields.push_back(result_field(column, spec.fields));
  }
  return fields;
}

/// Writes a window's result as a row of the table.
struct WriteResult {
  std::vector<Field> key;
  std::vector<Field> results;

  void operator()(const Windowed<Row, Row>& result, CellWriter& cells) const {
    write(result.key, key, cells);
    cells.integer(result.window.start.ms);
    cells.integer(result.window.end.ms);
    write(result.value, results, cells);
  }

  static void write(const Row& row, const std::vector<Field>& fields, CellWriter& cells) {
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
      if (!row.has(i)) {
        cells.null();
      } else if (fields[i].type == FieldType::text) {
        cells.text(row.text(i));
      } else if (fields[i].type == FieldType::real) {
        cells.real(row.real(i));
      } else {
        cells.integer(row.integer(i));
      }
    }
  }
};

Sink<Windowed<Row, Row>> sink_of(const JobSpec& spec) {
  using Result = Windowed<Row, Row>;
  const WriteResult write{key_fields(spec), result_fields(spec)};
  switch (spec.mode) {
    case SinkMode::staged: return staged_table<Result>(spec.database, schema_of(spec), write);
    case SinkMode::upsert: return upsert_table<Result>(spec.database, schema_of(spec), write);
    case SinkMode::insert: return insert_table<Result>(spec.database, schema_of(spec), write);
  }
  violated("a sink has a mode", Where::here());
}

}  // namespace

TableSchema schema_of(const JobSpec& spec) {
  TableSchema schema;
  schema.table = spec.table;
  const auto add = [&schema](const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      schema.columns.push_back({field.name, column_type(field.type), field.nullable});
    }
  };
  add(key_fields(spec));
  add({{"window_start", FieldType::integer, false}, {"window_end", FieldType::integer, false}});
  add(result_fields(spec));
  schema.key = spec.sink_key;
  schema.unique_key = spec.unique_key;
  schema.mode = spec.mode;
  return schema;
}

Job build_job(const JobSpec& spec) {
  JsonRows rows{spec.address, spec.fields, spec.event_time, spec.on_bad_record};
  std::vector<Condition> conditions;
  for (const FilterSpec& filter : spec.filters) {
    conditions.emplace_back(filter.expression, spec.fields);
  }
  std::vector<FieldType> key_types;
  for (const std::uint32_t number : spec.key) key_types.push_back(spec.fields[number].type);

  Job job(spec.name, from("source", json_rows(std::move(rows)))
                         .event_time([time = spec.event_time](
                                         const Row& row) { return EventTime{row.integer(time)}; },
                                     disorder(spec.disorder))
                         .filter([conditions](const Row& row) {
                           for (const Condition& condition : conditions) {
                             if (!condition(row)) return false;
                           }
                           return true;
                         })
                         .key_by([fields = spec.key, types = key_types](const Row& row) {
                           Row key(static_cast<std::uint32_t>(fields.size()));
                           for (std::uint32_t i = 0; i < fields.size(); ++i) {
                             key.copy(i, row, fields[i], types[i]);
                           }
                           return key;
                         })
                         .window(tumbling(spec.window_size))
                         .aggregate("window", RowAggregate(spec.aggregates, spec.fields))
                         .to("sink", sink_of(spec)));
  job.set_fingerprint(fingerprint_of(spec));
  return job;
}

std::vector<FingerprintPart> fingerprint_of(const JobSpec& spec) {
  std::vector<std::string> fields;
  for (const Field& field : spec.fields) fields.push_back(describe(field));
  std::vector<std::string> key;
  for (const std::uint32_t number : spec.key) key.push_back(spec.fields[number].name);
  std::vector<std::string> aggregates;
  for (const AggregateColumn& column : spec.aggregates) {
    aggregates.push_back(column.name + " = " + describe(column, spec.fields));
  }
  std::vector<FingerprintPart> parts{
      {"source.format", "jsonl"},
      {"source.files", spec.files},
      {"source.fields", fmt::format("{}", fmt::join(fields, ", "))},
      {"source.event_time", spec.fields[spec.event_time].name},
      {"source.disorder", describe(spec.disorder)},
      {"source.on_bad_record", describe(spec.on_bad_record)},
  };
  for (std::size_t i = 0; i < spec.filters.size(); ++i) {
    parts.push_back({fmt::format("filter {}", i + 1), spec.filters[i].text});
  }
  parts.push_back({"window.tumbling", describe(spec.window_size)});
  parts.push_back({"window.key", fmt::format("{}", fmt::join(key, ", "))});
  parts.push_back({"aggregate", fmt::format("{}", fmt::join(aggregates, ", "))});
  parts.push_back({"sink.table", spec.table});
  parts.push_back({"sink.mode", std::string(describe(spec.mode))});
  parts.push_back({"sink.key", fmt::format("{}", fmt::join(spec.sink_key, ", "))});
  return parts;
}

}  // namespace millrace
