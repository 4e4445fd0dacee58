#include "millrace/sqlite/row_reader.hpp"

#include <cmath>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"

namespace millrace {
namespace {

constexpr std::size_t null_kind = 0;
constexpr const char* kind_names[] = {"NULL", "an INTEGER", "a REAL", "a TEXT"};
static_assert(std::is_same_v<std::variant_alternative_t<null_kind, Cell>, std::monostate>);
static_assert(std::is_same_v<std::variant_alternative_t<1, Cell>, std::int64_t>);
static_assert(std::is_same_v<std::variant_alternative_t<2, Cell>, double>);
static_assert(std::is_same_v<std::variant_alternative_t<3, Cell>, std::string_view>);

std::size_t kind_of(TableSchema::Type type) {
  switch (type) {
    case TableSchema::Type::integer: return 1;
    case TableSchema::Type::real: return 2;
    case TableSchema::Type::text: return 3;
  }
  violated("every type of a column has a kind of cell", Where::here());
}

}  // namespace

RowReader::RowReader(const TableSchema& schema) : table_(schema.table) {
  for (const auto& column : schema.columns) {
    columns_.push_back({column.name, kind_of(column.type), column.nullable});
  }
  found_.resize(columns_.size());
}

void RowReader::open(CheckpointId batch, std::span<const std::byte> block) {
  batch_ = batch;
  cells_ = CellReader(block);
  row_ = 0;
}

std::span<const Cell> RowReader::next() {
  if (cells_.at_end()) return {};
  ++row_;
  try {
    read_row();
  } catch (const CorruptObject& error) {
    throw CorruptObject(fmt::format("rows staged for table `{}` in checkpoint {}: row {}: {}",
                                    table_, to_text(batch_), row_, error.what()));
  }
  return found_;
}

void RowReader::read_row() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    Cell& cell = found_[i] = cells_.next();
    const bool fits = cell.index() == column.kind || (cell.index() == null_kind && column.nullable);
    if (!fits) [[unlikely]] {
      throw CorruptObject(fmt::format("column `{}` is {}; expected {}", column.name,
                                      kind_names[cell.index()], kind_names[column.kind]));
    }
    double* const real = std::get_if<double>(&cell);
    if (real == nullptr) continue;
    // SQLite would quietly make it NULL.
    if (std::isnan(*real)) [[unlikely]] {
      throw CorruptObject(fmt::format("column `{}` is NaN, which SQL does not know", column.name));
    }
    *real += 0.0;  // -0 becomes 0, as SQLite stores it.
  }
}

}  // namespace millrace
