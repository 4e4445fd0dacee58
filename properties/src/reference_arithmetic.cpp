#include "reference_arithmetic.hpp"

#include <limits>

#include "millrace/env/error.hpp"

#include "exact_number.hpp"

namespace millrace::properties {
namespace {

using Kind = Arithmetic::Kind;

/// The whole part, towards zero.
Fraction whole_part(const Fraction& value) {
  return Fraction(boost::multiprecision::cpp_int(numerator(value) / denominator(value)));
}

Fraction exact_cell(const OwnedCell& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return Fraction(*integer);
  return exact(std::get<double>(number));
}

/// A number as an operand of fractions: one that is whole is rounded before.
Fraction rounded_cell(const OwnedCell& number) { return exact(nearest_double(exact_cell(number))); }

OwnedCell in_type(const Fraction& value, FieldType type) {
  if (type == FieldType::real) return nearest_double(value);
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max()) {
    throw UsageError("arithmetic on this input does not fit into int64");
  }
  return static_cast<std::int64_t>(numerator(value));
}

}  // namespace

OwnedCell compute(const Arithmetic& arithmetic, const OwnedRow& row) {
  if (arithmetic.kind == Kind::field) return row[arithmetic.field];
  if (arithmetic.kind == Kind::literal) {
    return std::visit([](const auto& value) { return OwnedCell(value); }, arithmetic.literal);
  }
  std::vector<Fraction> operands;
  for (const Arithmetic& part : arithmetic.parts) {
    const OwnedCell value = compute(part, row);
    if (std::holds_alternative<std::monostate>(value)) return {};
    const bool is_real = arithmetic.type == FieldType::real;
    operands.push_back(is_real ? rounded_cell(value) : exact_cell(value));
  }
  const Fraction& left = operands.front();
  const Fraction& right = operands.back();
  const bool is_whole = arithmetic.type == FieldType::integer;
  switch (arithmetic.kind) {
    case Kind::negate: return in_type(-left, arithmetic.type);
    case Kind::add: return in_type(left + right, arithmetic.type);
    case Kind::subtract: return in_type(left - right, arithmetic.type);
    case Kind::multiply: return in_type(left * right, arithmetic.type);
    case Kind::divide:
      if (right == 0) return {};
      return in_type(is_whole ? whole_part(left / right) : Fraction(left / right), arithmetic.type);
    default:
      if (right == 0) return {};
      return in_type(left - right * whole_part(left / right), arithmetic.type);
  }
}

}  // namespace millrace::properties
