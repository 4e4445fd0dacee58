#include "reference_csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <boost/multiprecision/cpp_int.hpp>

namespace millrace::properties {
namespace {

using boost::multiprecision::cpp_int;

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What stands before and behind the first of some signs, if there is one.
struct Halves {
  std::string_view before;
  std::optional<std::string_view> behind;
};
Halves cut_at(std::string_view text, const char* signs) {
  const auto sign = text.find_first_of(signs);
  if (sign == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

std::string_view without_sign(std::string_view text, const char* signs) {
  return text.substr(text.find_first_of(signs) == 0 ? 1 : 0);
}

std::optional<OwnedCell> whole(const std::string& text) {
  std::string_view digits = without_sign(text, "-");
  if (!are_digits(digits)) return std::nullopt;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() > 19) return std::nullopt;
  cpp_int number = 0;
  for (const char digit : digits) number = number * 10 + (digit - '0');
  if (text[0] == '-') number = -number;
  if (number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  if (number < std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return OwnedCell{static_cast<std::int64_t>(number)};
}

std::optional<OwnedCell> fraction(const std::string& text) {
  const Halves number = cut_at(without_sign(text, "-"), "eE");
  const Halves mantissa = cut_at(number.before, ".");
  if (!are_digits(mantissa.before) || !are_digits(mantissa.behind.value_or("0"))) {
    return std::nullopt;
  }
  if (!are_digits(without_sign(number.behind.value_or("0"), "+-"))) return std::nullopt;
  const double value = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  const bool is_zero = number.before.find_first_not_of("0.") == std::string_view::npos;
  if ((value == 0) != is_zero) return std::nullopt;
  return OwnedCell{is_zero ? 0.0 : value};  // And not -0.
}

}  // namespace

ReferenceCells reference_cells(std::string_view line) {
  enum class In { beginning, plain, quotes, behind_quotes };
  ReferenceCells found;
  found.cells.emplace_back();
  In in = In::beginning;
  for (const char c : line) {
    ReferenceCells::Cell& cell = found.cells.back();
    if (in == In::quotes) {
      if (c == '"') {
        in = In::behind_quotes;
      } else {
        cell.text += c;
      }
    } else if (c == ',') {
      found.cells.emplace_back();
      in = In::beginning;
    } else if (c == '"' && in == In::behind_quotes) {
      cell.text += c;
      in = In::quotes;
    } else if (c == '"' && in == In::beginning) {
      cell.is_quoted = true;
      in = In::quotes;
    } else if (c == '"' || in == In::behind_quotes) {
      found.why_bad = "a quote where none can be";
      return found;
    } else {
      cell.text += c;
      in = In::plain;
    }
  }
  if (in == In::quotes) found.why_bad = "a quoted cell without an end";
  return found;
}

std::optional<OwnedCell> reference_value(const ReferenceCells::Cell& cell, const Field& field) {
  const bool is_nothing = cell.text.empty() && !cell.is_quoted;
  if (is_nothing && field.nullable) return OwnedCell{};
  switch (field.type) {
    case FieldType::integer: return whole(cell.text);
    case FieldType::real: return fraction(cell.text);
    case FieldType::text: return OwnedCell{cell.text};
  }
  return std::nullopt;
}

}  // namespace millrace::properties
