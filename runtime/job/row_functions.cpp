#include "row_functions.hpp"

#include <algorithm>
#include <utility>

namespace millrace {

KeyOfRow::KeyOfRow(const std::vector<std::uint32_t>& key, const std::vector<Field>& rows)
    : fields(key) {
  for (const std::uint32_t field : key) types.push_back(rows[field].type);
}

bool HasKey::operator()(const Row& row) const {
  return std::all_of(key.begin(), key.end(), [&](std::uint32_t field) { return row.has(field); });
}

RowOfResult::RowOfResult(const WindowSpec& window, const std::vector<Field>& rows)
    : has_bounds_(window.has_bounds()), has_panes_(window.has_panes()) {
  for (const std::uint32_t field : window.key) key_.push_back(rows[field].type);
  for (const AggregateColumn& column : window.aggregates) {
    values_.push_back(result_field(column, rows).type);
  }
}

Row RowOfResult::operator()(const Windowed<Row, Row>& result) const {
  Row row(static_cast<std::uint32_t>(key_.size() + (has_bounds_ ? 2 : 0) + (has_panes_ ? 1 : 0) +
                                     values_.size()));
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < key_.size(); ++i) row.copy(at++, result.key, i, key_[i]);
  if (has_bounds_) {
    row.set_integer(at++, result.window.start.ms);
    row.set_integer(at++, result.window.end.ms);
  }
  if (has_panes_) row.set_integer(at++, result.pane);
  for (std::uint32_t i = 0; i < values_.size(); ++i) row.copy(at++, result.value, i, values_[i]);
  return row;
}

std::vector<Row> RankedRows::operator()(const Windowed<Row, std::vector<Row>>& result) const {
  std::vector<Row> ranked;
  for (const Row& row : result.value) {
    Row made(static_cast<std::uint32_t>(types.size() + 3));
    made.set_integer(0, result.window.start.ms);
    made.set_integer(1, result.window.end.ms);
    made.set_integer(2, static_cast<std::int64_t>(ranked.size()) + 1);
    for (std::uint32_t i = 0; i < types.size(); ++i) made.copy(i + 3, row, i, types[i]);
    ranked.push_back(std::move(made));
  }
  return ranked;
}

Row RowOfPair::operator()(const Row& left, const Row& right, Window window) const {
  Row row(static_cast<std::uint32_t>(columns.size()));
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    const JoinColumn& column = columns[i];
    switch (column.from) {
      case JoinColumn::From::left: row.copy(i, left, column.field, column.made.type); break;
      case JoinColumn::From::right: row.copy(i, right, column.field, column.made.type); break;
      case JoinColumn::From::window_start: row.set_integer(i, window.start.ms); break;
      case JoinColumn::From::window_end: row.set_integer(i, window.end.ms); break;
    }
  }
  return row;
}

}  // namespace millrace
