#include "row_inserter.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "quoted.hpp"

namespace millrace {
namespace {

/// What becomes of a row that has the key of another.
std::string replacement(const TableSchema& schema) {
  std::string key;
  std::string changes;
  for (const auto& column : schema.columns) {
    const bool in_key =
        std::find(schema.key.begin(), schema.key.end(), column.name) != schema.key.end();
    std::string& list = in_key ? key : changes;
    if (!list.empty()) list += ", ";
    list += quoted(column.name);
    if (!in_key) list += fmt::format(" = excluded.{}", quoted(column.name));
  }
  return fmt::format(" ON CONFLICT({}) DO {}", key,
                     changes.empty() ? "NOTHING" : "UPDATE SET " + changes);
}

std::string insertion(const TableSchema& schema) {
  std::string columns;
  std::string values;
  for (const auto& column : schema.columns) {
    const char* const comma = columns.empty() ? "" : ", ";
    columns += comma + quoted(column.name);
    values += fmt::format("{}?", comma);
  }
  std::string sql =
      fmt::format("INSERT INTO {}({}) VALUES ({})", quoted(schema.table), columns, values);
  if (schema.mode == SinkMode::upsert) sql += replacement(schema);
  return sql;
}

}  // namespace

RowInserter::RowInserter(Database& database, const TableSchema& schema)
    : rows_(schema), statement_(database, insertion(schema)) {}

void RowInserter::insert(CheckpointId batch, std::span<const std::byte> block) {
  rows_.open(batch, block);
  for (auto row = rows_.next(); !row.empty(); row = rows_.next()) {
    int parameter = 0;
    for (const Cell& cell : row) statement_.bind(++parameter, cell);
    statement_.step();
    statement_.reset();
  }
}

}  // namespace millrace
