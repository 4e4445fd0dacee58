#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/runtime/row.hpp"

namespace millrace {

/// How a comparison compares.
enum class Comparison : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

/// What a field is compared with.
using Literal = std::variant<std::int64_t, double, std::string>;

/// A condition on a row, as a job file writes it: comparisons of a field with a literal, `and`,
/// `or`, `not` and parentheses. `magnitude >= 2.5 and not (network == 'nn' or kind != 'quake')`.
struct Expression {
  enum class Kind : std::uint8_t { compare, both, either, negation };
  Kind kind = Kind::compare;
  std::uint32_t field = 0;  ///< For `compare`: the field's number, and so on.
  Comparison comparison = Comparison::equal;
  Literal literal;
  std::vector<Expression> parts;  ///< For the others: what they join.
  friend bool operator==(const Expression&, const Expression&) = default;
};

/// Reads a condition on rows of these fields.
///
/// Throws UsageError with what is wrong and what was expected, without file and line: the caller
/// knows those.
Expression parse_expression(std::string_view text, const std::vector<Field>& fields);

/// True, false, or unknown: a comparison with a field that is null is neither (as in SQL).
enum class Truth : std::uint8_t { no, unknown, yes };

/// A condition made ready for many rows.
class Condition {
 public:
  Condition(Expression expression, const std::vector<Field>& fields);
  Truth evaluate(const Row& row) const { return evaluate(expression_, row); }
  /// Whether a row is kept: only if the condition is true.
  bool operator()(const Row& row) const { return evaluate(row) == Truth::yes; }

 private:
  Truth evaluate(const Expression& expression, const Row& row) const;
  Truth compare(const Expression& expression, const Row& row) const;

  Expression expression_;
  std::vector<FieldType> types_;
};

/// Compares a whole number with a fraction, exactly: -1, 0 or 1. `real` is finite.
int compare_exactly(std::int64_t integer, double real);

}  // namespace millrace
