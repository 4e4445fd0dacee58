#include "row_sinks.hpp"

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

void write(const Row& row, const std::vector<Field>& fields, CellWriter& cells) {
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

struct WriteRow {
  std::vector<Field> fields;
  void operator()(const Row& row, CellWriter& cells) const { write(row, fields, cells); }
};

struct WriteResult {
  std::vector<Field> key;
  std::vector<Field> results;
  bool has_bounds;
  bool has_panes;

  void operator()(const Windowed<Row, Row>& result, CellWriter& cells) const {
    write(result.key, key, cells);
    if (has_bounds) {
      cells.integer(result.window.start.ms);
      cells.integer(result.window.end.ms);
    }
    if (has_panes) cells.integer(result.pane);
    write(result.value, results, cells);
  }
};

template <class T, class Write>
Sink<T> sink_of(const JobTable& table, Write write) {
  const std::string& database = table.sink.database;
  switch (table.sink.mode) {
    case SinkMode::staged: return staged_table<T>(database, table.schema, std::move(write));
    case SinkMode::upsert: return upsert_table<T>(database, table.schema, std::move(write));
    case SinkMode::insert: return insert_table<T>(database, table.schema, std::move(write));
  }
  violated("a sink has a mode", Where::here());
}

}  // namespace

Sink<Row> sink_of_rows(const JobTable& table, const std::vector<Field>& fields) {
  return sink_of<Row>(table, WriteRow{fields});
}

Sink<Windowed<Row, Row>> sink_of_results(const JobTable& table, const WindowSpec& window,
                                         const std::vector<Field>& rows) {
  WriteResult write{{}, {}, window.has_bounds(), window.has_panes()};
  for (const std::uint32_t number : window.key) write.key.push_back(rows[number]);
  for (const AggregateColumn& column : window.aggregates) {
    write.results.push_back(result_field(column, rows));
  }
  return sink_of<Windowed<Row, Row>>(table, std::move(write));
}

}  // namespace millrace
