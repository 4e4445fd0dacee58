#include "millrace/runtime/job/expression.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "millrace/env/error.hpp"

#include "arithmetic_parser.hpp"
#include "words.hpp"

namespace millrace {
namespace {

constexpr std::string_view operators = "==, !=, <, <=, > or >=";

constexpr std::pair<std::string_view, Comparison> comparisons[] = {
    {"==", Comparison::equal},    {"!=", Comparison::unequal}, {"<=", Comparison::at_most},
    {">=", Comparison::at_least}, {"<", Comparison::less},     {">", Comparison::greater}};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Field>& fields) : words_(text), fields_(fields) {}

  Expression parse() {
    Expression whole = either();
    if (words_.kind() != Words::Kind::end) words_.expected("`and`, `or` or the end");
    return whole;
  }

 private:
  Expression either() { return joined(Expression::Kind::either, "or", &Parser::both); }
  Expression both() { return joined(Expression::Kind::both, "and", &Parser::negation); }

  Expression joined(Expression::Kind kind, std::string_view word, Expression (Parser::*part)()) {
    Expression first = (this->*part)();
    if (!words_.is(word)) return first;
    Expression all;
    all.kind = kind;
    all.parts.push_back(std::move(first));
    while (words_.is(word)) {
      words_.advance();
      all.parts.push_back((this->*part)());
    }
    return all;
  }

  Expression negation() {
    if (++depth_ > deepest_nesting) throw UsageError("it is nested too deeply");
    Expression made;
    if (words_.is("not")) {
      words_.advance();
      made.kind = Expression::Kind::negation;
      made.parts.push_back(negation());
    } else if (words_.is("(") && !is_arithmetic()) {
      words_.advance();
      made = either();
      if (!words_.is(")")) words_.expected("`)`");
      words_.advance();
    } else {
      made = comparison();
    }
    --depth_;
    return made;
  }

  /// Whether the parentheses that begin here hold a value, and no condition: in a value there is
  /// nothing that compares or joins.
  bool is_arithmetic() const {
    Words ahead = words_;
    int open = 0;
    do {
      if (ahead.is("(")) ++open;
      if (ahead.is(")")) --open;
      if (ahead.is("and") || ahead.is("or") || ahead.is("not")) return false;
      for (const auto& [word, comparison] : comparisons) {
        if (ahead.is(word)) return false;
      }
      ahead.advance();
    } while (open > 0 && ahead.kind() != Words::Kind::end);
    return open == 0;
  }

  Expression comparison() {
    Expression made;
    ArithmeticParser values(words_, fields_);
    made.left = values.parse();
    made.comparison = comparison_operator();
    made.right = values.parse_beside(made.left);
    return made;
  }

  Comparison comparison_operator() {
    for (const auto& [word, comparison] : comparisons) {
      if (!words_.is(word)) continue;
      words_.advance();
      return comparison;
    }
    words_.expected(operators);
  }

  Words words_;
  const std::vector<Field>& fields_;
  int depth_ = 0;
};

Truth truth_of(Comparison comparison, int order) {
  switch (comparison) {
    case Comparison::equal: return order == 0 ? Truth::yes : Truth::no;
    case Comparison::unequal: return order != 0 ? Truth::yes : Truth::no;
    case Comparison::less: return order < 0 ? Truth::yes : Truth::no;
    case Comparison::at_most: return order <= 0 ? Truth::yes : Truth::no;
    case Comparison::greater: return order > 0 ? Truth::yes : Truth::no;
    case Comparison::at_least: return order >= 0 ? Truth::yes : Truth::no;
  }
  return Truth::unknown;
}

template <class T>
int order_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Both are numbers, or both texts.
int order_of_cells(const Cell& left, const Cell& right) {
  if (const auto* text = std::get_if<std::string_view>(&left)) {
    return order_of(*text, std::get<std::string_view>(right));
  }
  const auto* const left_integer = std::get_if<std::int64_t>(&left);
  const auto* const right_integer = std::get_if<std::int64_t>(&right);
  if (left_integer != nullptr && right_integer != nullptr) {
    return order_of(*left_integer, *right_integer);
  }
  if (left_integer != nullptr) return compare_exactly(*left_integer, std::get<double>(right));
  if (right_integer != nullptr) return -compare_exactly(*right_integer, std::get<double>(left));
  return order_of(std::get<double>(left), std::get<double>(right));
}

Truth compare(const Expression& expression, const Row& row) {
  const Cell left = value_of(expression.left, row);
  if (std::holds_alternative<std::monostate>(left)) return Truth::unknown;
  const Cell right = value_of(expression.right, row);
  if (std::holds_alternative<std::monostate>(right)) return Truth::unknown;
  return truth_of(expression.comparison, order_of_cells(left, right));
}

}  // namespace

int compare_exactly(std::int64_t integer, double real) {
  // Beyond the range of an int64 the answer is clear; inside it, the whole part of the fraction
  // converts without loss.
  constexpr double limit = 9223372036854775808.0;
  if (real >= limit) return -1;
  if (real < -limit) return 1;
  const double whole = std::trunc(real);
  const int order = order_of(integer, static_cast<std::int64_t>(whole));
  return order != 0 ? order : order_of(whole, real);
}

Expression parse_expression(std::string_view text, const std::vector<Field>& fields) {
  return Parser(text, fields).parse();
}

Truth Condition::evaluate(const Expression& expression, const Row& row) {
  switch (expression.kind) {
    case Expression::Kind::compare: return compare(expression, row);
    case Expression::Kind::negation: {
      const Truth inner = evaluate(expression.parts[0], row);
      return static_cast<Truth>(2 - static_cast<int>(inner));
    }
    case Expression::Kind::both: {
      Truth all = Truth::yes;
      for (const Expression& part : expression.parts) all = std::min(all, evaluate(part, row));
      return all;
    }
    case Expression::Kind::either: {
      Truth any = Truth::no;
      for (const Expression& part : expression.parts) any = std::max(any, evaluate(part, row));
      return any;
    }
  }
  return Truth::unknown;
}

}  // namespace millrace
