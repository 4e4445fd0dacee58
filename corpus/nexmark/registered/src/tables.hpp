#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/table_sink.hpp"

#include "columns.hpp"

namespace millrace::nexmark {

namespace cells {

inline void write(CellWriter& out, std::int64_t number) { out.integer(number); }
inline void write(CellWriter& out, EventTime time) { out.integer(time.ms); }
inline void write(CellWriter& out, const std::string& text) { out.text(text); }

inline properties::OwnedCell own(std::int64_t number) { return number; }
inline properties::OwnedCell own(EventTime time) { return time.ms; }
inline properties::OwnedCell own(const std::string& text) { return text; }

}  // namespace cells

/// A table of rows, as a sink and as a judge know it.
template <class Row>
TableSchema schema_of(std::string table, std::vector<std::string> key, SinkMode mode) {
  using Type = TableSchema::Type;
  TableSchema schema;
  schema.table = std::move(table);
  each_column(Row{}, [&](const char* name, const auto& value) {
    const bool is_text = std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>;
    schema.columns.push_back({name, is_text ? Type::text : Type::integer});
  });
  schema.key = std::move(key);
  schema.mode = mode;
  return schema;
}

template <class Row>
Sink<Row> table_of(const std::string& database, const TableSchema& schema) {
  const auto write = [](const Row& row, CellWriter& out) {
    each_column(row, [&](const char*, const auto& value) { cells::write(out, value); });
  };
  return schema.mode == SinkMode::upsert ? upsert_table<Row>(database, schema, write)
                                         : staged_table<Row>(database, schema, write);
}

template <class Row>
std::vector<properties::OwnedRow> owned(const std::vector<Row>& rows) {
  std::vector<properties::OwnedRow> result;
  for (const Row& row : rows) {
    properties::OwnedRow& made = result.emplace_back();
    each_column(row, [&](const char*, const auto& value) { made.push_back(cells::own(value)); });
  }
  return result;
}

}  // namespace millrace::nexmark
