#include "millrace/runtime/job/arithmetic.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

using Kind = Arithmetic::Kind;

constexpr char sign_of(Kind kind) {
  switch (kind) {
    case Kind::add: return '+';
    case Kind::subtract: return '-';
    case Kind::multiply: return '*';
    case Kind::divide: return '/';
    default: return '%';
  }
}

template <class Number>
[[noreturn]] void fail(Kind kind, Number left, Number right, const char* type) {
  throw JobFailed(fmt::format("{} {} {} does not fit into {}", left, sign_of(kind), right, type));
}

Cell calculate(Kind kind, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (kind) {
    case Kind::add: overflows = __builtin_add_overflow(left, right, &result); break;
    case Kind::subtract: overflows = __builtin_sub_overflow(left, right, &result); break;
    case Kind::multiply: overflows = __builtin_mul_overflow(left, right, &result); break;
    case Kind::divide:
      if (right == 0) return {};
      overflows = right == -1 && left == std::numeric_limits<std::int64_t>::min();
      if (!overflows) result = left / right;
      break;
    default:
      if (right == 0) return {};
      result = right == -1 ? 0 : left % right;  // The least number has no quotient by -1.
  }
  if (overflows) fail(kind, left, right, "int64");
  return result;
}

Cell calculate(Kind kind, double left, double right) {
  double result = 0;
  switch (kind) {
    case Kind::add: result = left + right; break;
    case Kind::subtract: result = left - right; break;
    case Kind::multiply: result = left * right; break;
    case Kind::divide:
      if (right == 0) return {};
      result = left / right;
      break;
    default:
      if (right == 0) return {};
      result = std::fmod(left, right);
  }
  if (!std::isfinite(result)) fail(kind, left, right, "float64");
  return result == 0 ? 0.0 : result;  // -0 and 0 are one number with two spellings.
}

double as_real(const Cell& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) {
    return static_cast<double>(*integer);
  }
  return std::get<double>(number);
}

Cell literal_value(const Literal& literal) {
  if (const auto* integer = std::get_if<std::int64_t>(&literal)) return *integer;
  if (const auto* real = std::get_if<double>(&literal)) return *real;
  return std::string_view(std::get<std::string>(literal));
}

Cell field_value(const Arithmetic& arithmetic, const Row& row) {
  if (!row.has(arithmetic.field)) return {};
  switch (arithmetic.type) {
    case FieldType::integer: return row.integer(arithmetic.field);
    case FieldType::real: return row.real(arithmetic.field);
    case FieldType::text: return row.text(arithmetic.field);
  }
  return {};
}

}  // namespace

Cell value_of(const Arithmetic& arithmetic, const Row& row) {
  if (arithmetic.kind == Kind::field) return field_value(arithmetic, row);
  if (arithmetic.kind == Kind::literal) return literal_value(arithmetic.literal);
  const Cell left = arithmetic.kind == Kind::negate ? Cell(std::int64_t{0})
                                                    : value_of(arithmetic.parts.front(), row);
  const Cell right = value_of(arithmetic.parts.back(), row);
  if (std::holds_alternative<std::monostate>(left)) return {};
  if (std::holds_alternative<std::monostate>(right)) return {};
  const Kind kind = arithmetic.kind == Kind::negate ? Kind::subtract : arithmetic.kind;
  if (arithmetic.type == FieldType::real) return calculate(kind, as_real(left), as_real(right));
  return calculate(kind, std::get<std::int64_t>(left), std::get<std::int64_t>(right));
}

}  // namespace millrace
