#include "reference_condition.hpp"

#include <optional>

#include "exact_number.hpp"

namespace millrace::properties {
namespace {

/// True, false or, as in SQL, neither.
using Answer = std::optional<bool>;

Answer ask(const Expression& expression, const OwnedRow& record);

template <class T>
bool holds(Comparison comparison, const T& a, const T& b) {
  switch (comparison) {
    case Comparison::equal: return a == b;
    case Comparison::unequal: return a != b;
    case Comparison::less: return a < b;
    case Comparison::at_most: return a <= b;
    case Comparison::greater: return a > b;
    case Comparison::at_least: return a >= b;
  }
  return false;
}

Answer ask_comparison(const Expression& expression, const OwnedRow& record) {
  const OwnedCell& cell = record[expression.field];
  if (std::holds_alternative<std::monostate>(cell)) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return holds(expression.comparison, *text, std::get<std::string>(expression.literal));
  }
  const auto* const integer = std::get_if<std::int64_t>(&cell);
  const auto* const literal = std::get_if<std::int64_t>(&expression.literal);
  if (integer != nullptr && literal != nullptr) {
    return holds(expression.comparison, *integer, *literal);
  }
  const Fraction left = integer != nullptr ? Fraction(*integer) : exact(std::get<double>(cell));
  const Fraction right =
      literal != nullptr ? Fraction(*literal) : exact(std::get<double>(expression.literal));
  return holds(expression.comparison, left, right);
}

Answer ask(const Expression& expression, const OwnedRow& record) {
  if (expression.kind == Expression::Kind::compare) return ask_comparison(expression, record);
  if (expression.kind == Expression::Kind::negation) {
    const Answer inner = ask(expression.parts.front(), record);
    return inner ? Answer(!*inner) : std::nullopt;
  }
  // `and` is decided by a false part, `or` by a true one; an unknown part leaves open what no other
  // decides.
  const bool decisive = expression.kind == Expression::Kind::either;
  bool any_unknown = false;
  for (const Expression& part : expression.parts) {
    const Answer answer = ask(part, record);
    if (answer == decisive) return decisive;
    any_unknown = any_unknown || !answer;
  }
  return any_unknown ? std::nullopt : Answer(!decisive);
}

}  // namespace

bool keeps(const FilterSpec& filter, const OwnedRow& record) {
  return ask(filter.expression, record) == true;
}

}  // namespace millrace::properties
