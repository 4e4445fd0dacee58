#include "reference_condition.hpp"

#include <optional>

#include "exact_number.hpp"
#include "reference_arithmetic.hpp"

namespace millrace::properties {
namespace {

/// True, false or, as in SQL, neither.
using Answer = std::optional<bool>;

Answer ask(const Expression& expression, const OwnedRow& record);

Fraction fraction_of(const OwnedCell& number) {
  const auto* const integer = std::get_if<std::int64_t>(&number);
  return integer != nullptr ? Fraction(*integer) : exact(std::get<double>(number));
}

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
  const OwnedCell left = compute(expression.left, record);
  const OwnedCell right = compute(expression.right, record);
  if (std::holds_alternative<std::monostate>(left)) return std::nullopt;
  if (std::holds_alternative<std::monostate>(right)) return std::nullopt;
  // Alternatives of one type compare as their values do.
  if (left.index() == right.index()) return holds(expression.comparison, left, right);
  return holds(expression.comparison, fraction_of(left), fraction_of(right));
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
