#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/runtime/job/arithmetic.hpp"
#include "millrace/runtime/row.hpp"

namespace millrace {

/// How a comparison compares.
enum class Comparison : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

/// A condition on a row, as a job file writes it: comparisons of fields, literals and arithmetic
/// with each other, `and`, `or`, `not` and parentheses.
/// `magnitude >= 2.5 and not (network == 'nn' or felt > 2 * reported)`.
struct Expression {
  enum class Kind : std::uint8_t { compare, both, either, negation };
  Kind kind = Kind::compare;
  Comparison comparison = Comparison::equal;  ///< For `compare`, as the next two.
  Arithmetic left;                            ///< Both numbers, or both texts.
  Arithmetic right;
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
  explicit Condition(Expression expression) : expression_(std::move(expression)) {}
  /// Throws JobFailed: a number does not fit into its type.
  Truth evaluate(const Row& row) const { return evaluate(expression_, row); }
  /// Whether a row is kept: only if the condition is true.
  bool operator()(const Row& row) const { return evaluate(row) == Truth::yes; }

 private:
  static Truth evaluate(const Expression& expression, const Row& row);

  Expression expression_;
};

/// Compares a whole number with a fraction, exactly: -1, 0 or 1. `real` is finite.
int compare_exactly(std::int64_t integer, double real);

}  // namespace millrace
