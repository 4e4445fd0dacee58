#include "arithmetic_parser.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"

#include "field_names.hpp"

namespace millrace {
namespace {

using Kind = Arithmetic::Kind;

/// What it is called in a message: a field by its name.
std::string title_of(const Arithmetic& value, const std::vector<Field>& fields) {
  if (value.kind == Kind::field) return fmt::format("`{}`", fields[value.field].name);
  return value.kind == Kind::literal ? "it" : "the result";
}

std::string title_of_type(FieldType type) {
  return type == FieldType::text ? "a string" : type_text({"", type, false});
}

bool is_zero(const Arithmetic& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.literal)) return *integer == 0;
  const auto* real = std::get_if<double>(&value.literal);
  return real != nullptr && *real == 0;
}

Arithmetic literal_of(Literal value) {
  Arithmetic made;
  made.type = std::holds_alternative<std::int64_t>(value) ? FieldType::integer
              : std::holds_alternative<double>(value)     ? FieldType::real
                                                          : FieldType::text;
  made.literal = std::move(value);
  return made;
}

}  // namespace

Arithmetic ArithmeticParser::parse() { return sum({}); }

Arithmetic ArithmeticParser::parse_beside(const Arithmetic& other) {
  const bool is_text = other.type == FieldType::text;
  return sum(
      {is_text, fmt::format("{} ({} is {})", is_text ? "a text in single quotes" : "a number",
                            title_of(other, fields_), title_of_type(other.type))});
}

Arithmetic ArithmeticParser::sum(const Wanted& wanted) {
  Arithmetic left = product(wanted);
  while (words_.is("+") || words_.is("-")) {
    const Kind kind = words_.is("+") ? Kind::add : Kind::subtract;
    words_.advance();
    left = joined(kind, std::move(left), product({false, "a number"}));
  }
  return left;
}

Arithmetic ArithmeticParser::product(const Wanted& wanted) {
  Arithmetic left = factor(wanted);
  while (words_.is("*") || words_.is("/") || words_.is("%")) {
    const Kind kind = words_.is("*")   ? Kind::multiply
                      : words_.is("/") ? Kind::divide
                                       : Kind::remainder;
    words_.advance();
    left = joined(kind, std::move(left), factor({false, "a number"}));
  }
  return left;
}

Arithmetic ArithmeticParser::factor(const Wanted& wanted) {
  if (++depth_ > deepest_nesting) throw UsageError("it is nested too deeply");
  Arithmetic made;
  if (words_.is("(")) {
    words_.advance();
    made = sum(wanted);
    if (!words_.is(")")) words_.expected("`)`");
    words_.advance();
  } else if (words_.is("-") || words_.is("+")) {
    if (wanted.is_text) words_.expected(wanted.words);
    const std::string_view sign = words_.word();
    words_.advance();
    if (words_.kind() == Words::Kind::number) {
      made = number(sign);
    } else {
      made = factor({false, wanted.words.empty() ? "a number" : wanted.words});
      if (sign == "-") made = negated(std::move(made));
    }
  } else {
    made = leaf(wanted);
  }
  --depth_;
  return made;
}

Arithmetic ArithmeticParser::leaf(const Wanted& wanted) {
  const std::string& expected = wanted.words;
  const bool takes_texts = expected.empty() || wanted.is_text;
  const bool takes_numbers = expected.empty() || !wanted.is_text;
  if (words_.kind() == Words::Kind::text && takes_texts) {
    Arithmetic made = literal_of(words_.value());
    words_.advance();
    return made;
  }
  if (words_.kind() == Words::Kind::number && takes_numbers) return number("");
  if (words_.kind() != Words::Kind::name) {
    words_.expected(expected.empty() ? "the name of a field" : expected);
  }
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [this](const Field& f) { return f.name == words_.word(); });
  if (found == fields_.end()) {
    if (wanted.is_text) words_.expected(expected);  // It may be a text whose quotes are missing.
    throw UsageError(fmt::format("there is no field `{}`; the fields are {}", words_.word(),
                                 list_of_names(fields_)));
  }
  const bool is_text = found->type == FieldType::text;
  if (is_text ? !takes_texts : !takes_numbers) words_.expected(expected);
  words_.advance();
  Arithmetic made;
  made.kind = Kind::field;
  made.field = static_cast<std::uint32_t>(found - fields_.begin());
  made.literal = std::int64_t{0};
  made.type = found->type;
  made.nullable = found->nullable;
  return made;
}

Arithmetic ArithmeticParser::joined(Kind kind, Arithmetic left, Arithmetic right) const {
  expect_number(left);
  expect_number(right);
  Arithmetic made;
  made.kind = kind;
  made.type = left.type == FieldType::real || right.type == FieldType::real ? FieldType::real
                                                                            : FieldType::integer;
  const bool divides = kind == Kind::divide || kind == Kind::remainder;
  const bool may_be_zero = right.kind != Kind::literal || is_zero(right);
  made.nullable = left.nullable || right.nullable || (divides && may_be_zero);
  made.parts.push_back(std::move(left));
  made.parts.push_back(std::move(right));
  return made;
}

Arithmetic ArithmeticParser::negated(Arithmetic inner) const {
  Arithmetic made;
  made.kind = Kind::negate;
  made.type = inner.type;
  made.nullable = inner.nullable;
  made.parts.push_back(std::move(inner));
  return made;
}

Arithmetic ArithmeticParser::number(std::string_view sign) {
  const std::string word = (sign == "-" ? "-" : "") + std::string(words_.word());
  const char* const end = word.data() + word.size();
  std::int64_t integer = 0;
  double real = 0;
  Arithmetic made;
  if (const auto read = std::from_chars(word.data(), end, integer);
      read.ec == std::errc{} && read.ptr == end) {
    made = literal_of(integer);
  } else if (const auto read_real = std::from_chars(word.data(), end, real);
             read_real.ec == std::errc{} && read_real.ptr == end && std::isfinite(real)) {
    made = literal_of(real == 0 ? 0.0 : real);  // And not -0.
  } else {
    throw UsageError(fmt::format("`{}` is not a number that fits", word));
  }
  words_.advance();
  return made;
}

void ArithmeticParser::expect_number(const Arithmetic& value) const {
  if (value.type != FieldType::text) return;
  throw UsageError(
      fmt::format("{} is a string, and there is no arithmetic of strings; a number is expected",
                  title_of(value, fields_)));
}

Arithmetic parse_arithmetic(std::string_view text, const std::vector<Field>& fields) {
  Words words(text);
  Arithmetic made = ArithmeticParser(words, fields).parse();
  if (words.kind() != Words::Kind::end) words.expected("`+`, `-`, `*`, `/`, `%` or the end");
  return made;
}

}  // namespace millrace
