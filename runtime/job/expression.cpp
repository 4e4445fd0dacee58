#include "millrace/runtime/job/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

constexpr std::string_view operators = "==, !=, <, <=, > or >=";

/// Deeper nesting than anybody writes, and less than a stack holds.
constexpr int deepest = 100;

std::string_view name_of(FieldType type) {
  switch (type) {
    case FieldType::integer: return "int64";
    case FieldType::real: return "float64";
    case FieldType::text: return "string";
  }
  return "";
}

/// Cuts the text into words as it is asked for them.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { advance(); }

  enum class Kind : std::uint8_t { end, name, number, text, symbol };
  Kind kind() const { return kind_; }
  std::string_view word() const { return word_; }
  const std::string& value() const { return value_; }
  bool is(std::string_view word) const {
    return (kind_ == Kind::name || kind_ == Kind::symbol) && word_ == word;
  }

  void advance() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t begin = at_;
    if (at_ == text_.size()) {
      kind_ = Kind::end;
    } else if (is_letter(text_[at_])) {
      kind_ = Kind::name;
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    } else if (is_digit(text_[at_]) || text_[at_] == '-' || text_[at_] == '+') {
      kind_ = Kind::number;
      ++at_;
      while (at_ < text_.size() && is_number_part(at_)) ++at_;
    } else if (text_[at_] == '\'') {
      kind_ = Kind::text;
      read_text();
    } else {
      kind_ = Kind::symbol;
      const auto two = text_.substr(at_, 2);
      at_ += two == "==" || two == "!=" || two == "<=" || two == ">=" ? 2 : 1;
    }
    word_ = text_.substr(begin, at_ - begin);
  }

  [[noreturn]] void expected(std::string_view what) const {
    throw UsageError(kind_ == Kind::end ? fmt::format("{} is expected at its end", what)
                                        : fmt::format("{} is expected, not `{}`", what, word_));
  }

 private:
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool is_number_part(std::size_t at) const {
    const char c = text_[at];
    const bool is_exponent_sign =
        (c == '-' || c == '+') && (text_[at - 1] == 'e' || text_[at - 1] == 'E');
    return is_digit(c) || c == '.' || c == 'e' || c == 'E' || is_exponent_sign;
  }
  /// A quote inside a text is written twice.
  void read_text() {
    value_.clear();
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '\'') {
        value_ += text_[at_];
      } else if (text_.substr(at_, 2) == "''") {
        value_ += text_[at_++];
      } else {
        ++at_;
        return;
      }
    }
    throw UsageError("a text in quotes does not end");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Kind kind_ = Kind::end;
  std::string_view word_;
  std::string value_;
};

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
    if (++depth_ > deepest) throw UsageError("it is nested too deeply");
    Expression made;
    if (words_.is("not")) {
      words_.advance();
      made.kind = Expression::Kind::negation;
      made.parts.push_back(negation());
    } else if (words_.is("(")) {
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

  Expression comparison() {
    Expression made;
    const Field& field = this->field(made.field);
    made.comparison = comparison_operator();
    made.literal = literal(field);
    return made;
  }

  const Field& field(std::uint32_t& number) {
    if (words_.kind() != Words::Kind::name) words_.expected("the name of a field");
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [this](const Field& f) { return f.name == words_.word(); });
    if (found == fields_.end()) {
      std::vector<std::string_view> names;
      for (const Field& f : fields_) names.push_back(f.name);
      throw UsageError(fmt::format("there is no field `{}`; the fields are {}", words_.word(),
                                   fmt::join(names, ", ")));
    }
    words_.advance();
    number = static_cast<std::uint32_t>(found - fields_.begin());
    return *found;
  }

  Comparison comparison_operator() {
    constexpr std::pair<std::string_view, Comparison> all[] = {
        {"==", Comparison::equal},    {"!=", Comparison::unequal}, {"<=", Comparison::at_most},
        {">=", Comparison::at_least}, {"<", Comparison::less},     {">", Comparison::greater}};
    for (const auto& [word, comparison] : all) {
      if (!words_.is(word)) continue;
      words_.advance();
      return comparison;
    }
    words_.expected(operators);
  }

  Literal literal(const Field& field) {
    Literal value;
    if (field.type == FieldType::text) {
      if (words_.kind() != Words::Kind::text) {
        words_.expected(fmt::format("a text in single quotes (`{}` is a string)", field.name));
      }
      value = words_.value();
    } else {
      if (words_.kind() != Words::Kind::number) {
        words_.expected(fmt::format("a number (`{}` is {})", field.name, name_of(field.type)));
      }
      value = number(words_.word());
    }
    words_.advance();
    return value;
  }

  Literal number(std::string_view word) {
    const char* const begin = word.data() + (word.front() == '+' ? 1 : 0);
    const char* const end = word.data() + word.size();
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(begin, end, integer);
        read.ec == std::errc{} && read.ptr == end) {
      return integer;
    }
    double real = 0;
    if (const auto read = std::from_chars(begin, end, real);
        read.ec == std::errc{} && read.ptr == end && std::isfinite(real)) {
      return real;
    }
    throw UsageError(fmt::format("`{}` is not a number that fits", word));
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

Condition::Condition(Expression expression, const std::vector<Field>& fields)
    : expression_(std::move(expression)) {
  for (const Field& field : fields) types_.push_back(field.type);
}

Truth Condition::evaluate(const Expression& expression, const Row& row) const {
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

Truth Condition::compare(const Expression& expression, const Row& row) const {
  const std::uint32_t field = expression.field;
  if (!row.has(field)) return Truth::unknown;
  int order = 0;
  switch (types_[field]) {
    case FieldType::text:
      order = row.text(field).compare(std::get<std::string>(expression.literal));
      break;
    case FieldType::integer:
      if (const auto* integer = std::get_if<std::int64_t>(&expression.literal)) {
        order = order_of(row.integer(field), *integer);
      } else {
        order = compare_exactly(row.integer(field), std::get<double>(expression.literal));
      }
      break;
    case FieldType::real:
      if (const auto* real = std::get_if<double>(&expression.literal)) {
        order = order_of(row.real(field), *real);
      } else {
        order = -compare_exactly(std::get<std::int64_t>(expression.literal), row.real(field));
      }
      break;
  }
  return truth_of(expression.comparison, order);
}

}  // namespace millrace
