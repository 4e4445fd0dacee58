#include "row_inserter.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

#include "quoted.hpp"

namespace millrace {
namespace {

constexpr std::size_t null_kind = 0;
constexpr std::size_t real_kind = 2;
constexpr const char* kind_names[] = {"NULL", "an INTEGER", "a REAL", "a TEXT"};
static_assert(std::is_same_v<std::variant_alternative_t<null_kind, Cell>, std::monostate>);
static_assert(std::is_same_v<std::variant_alternative_t<1, Cell>, std::int64_t>);
static_assert(std::is_same_v<std::variant_alternative_t<real_kind, Cell>, double>);
static_assert(std::is_same_v<std::variant_alternative_t<3, Cell>, std::string_view>);

std::size_t kind_of(TableSchema::Type type) {
  switch (type) {
    case TableSchema::Type::integer: return 1;
    case TableSchema::Type::real: return real_kind;
    case TableSchema::Type::text: return 3;
  }
  violated("every type of a column has a kind of cell", Where::here());
}

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
    : table_(schema.table), statement_(database, insertion(schema)) {
  for (const auto& column : schema.columns) {
    columns_.push_back({column.name, kind_of(column.type), column.nullable});
  }
}

void RowInserter::insert(CheckpointId batch, std::span<const std::byte> block) {
  CellReader cells(block);
  std::uint64_t row = 1;
  try {
    for (; !cells.at_end(); ++row) insert_row(cells);
  } catch (const CorruptObject& error) {
    throw CorruptObject(fmt::format("rows staged for table `{}` in checkpoint {}: row {}: {}",
                                    table_, to_text(batch), row, error.what()));
  }
}

void RowInserter::insert_row(CellReader& cells) {
  int parameter = 0;
  for (const Column& column : columns_) {
    const Cell cell = cells.next();
    const bool fits = cell.index() == column.kind || (cell.index() == null_kind && column.nullable);
    if (!fits) [[unlikely]] {
      throw CorruptObject(fmt::format("column `{}` is {}; expected {}", column.name,
                                      kind_names[cell.index()], kind_names[column.kind]));
    }
    // SQLite would quietly make it NULL.
    if (cell.index() == real_kind && std::isnan(*std::get_if<double>(&cell))) [[unlikely]] {
      throw CorruptObject(fmt::format("column `{}` is NaN, which SQL does not know", column.name));
    }
    statement_.bind(++parameter, cell);
  }
  statement_.step();
  statement_.reset();
}

}  // namespace millrace
