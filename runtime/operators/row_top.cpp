#include "millrace/runtime/operators/row_top.hpp"

#include <algorithm>

namespace millrace {
namespace {

/// Of numbers without NaN, which rows do not hold.
template <class Value>
std::weak_ordering order(const Value& a, const Value& b) {
  if (a < b) return std::weak_ordering::less;
  return b < a ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

}  // namespace

RowTop::RowTop(std::uint32_t most, std::uint32_t by, const std::vector<Field>& fields)
    : most_(most), by_(by) {
  for (const Field& field : fields) types_.push_back(field.type);
}

void RowTop::add(State& state, const Row& row) const {
  if (!row.has(by_)) return;
  std::vector<Row>& rows = state.rows;
  const auto at = std::upper_bound(rows.begin(), rows.end(), row,
                                   [&](const Row& a, const Row& b) { return is_before(a, b); });
  if (at == rows.end() && rows.size() == most_) return;
  rows.insert(at, row);
  if (rows.size() > most_) rows.pop_back();
}

void RowTop::merge(State& state, const State& other) const {
  for (const Row& row : other.rows) add(state, row);
}

std::weak_ordering RowTop::compare(const Row& a, const Row& b, std::uint32_t field) const {
  if (!a.has(field) || !b.has(field)) return order(a.has(field), b.has(field));
  switch (types_[field]) {
    case FieldType::integer: return order(a.integer(field), b.integer(field));
    case FieldType::real: return order(a.real(field), b.real(field));
    case FieldType::text: return order(a.text(field), b.text(field));
  }
  return std::weak_ordering::equivalent;
}

bool RowTop::is_before(const Row& a, const Row& b) const {
  if (const auto by = compare(a, b, by_); by != 0) return by > 0;
  for (std::uint32_t field = 0; field < types_.size(); ++field) {
    if (const auto other = compare(a, b, field); other != 0) return other < 0;
  }
  return false;
}

}  // namespace millrace
