#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/env/cells.hpp"
#include "millrace/runtime/row.hpp"

namespace millrace {

/// A value that stands in a job file itself.
using Literal = std::variant<std::int64_t, double, std::string>;

/// Arithmetic on the fields of a row, as a job file writes it: `price * 0.908`, `-(auction % 123)`.
/// A field or a literal alone may also be a text.
///
/// Of whole numbers the result is whole: `/` cuts off what is behind the point, and `%` is what
/// that leaves, with the sign of the first. With a fraction in it all are fractions, rounded once
/// for each operation. A division by 0 is null, and what has a null in it is null.
struct Arithmetic {
  enum class Kind : std::uint8_t {
    field,
    literal,
    negate,
    add,
    subtract,
    multiply,
    divide,
    remainder
  };
  Kind kind = Kind::literal;
  std::uint32_t field = 0;              ///< Of a field: its number.
  Literal literal;                      ///< Of a literal.
  std::vector<Arithmetic> parts;        ///< Of the others: one or two.
  FieldType type = FieldType::integer;  ///< Of its value.
  bool nullable = false;                ///< Whether its value may be null.
  friend bool operator==(const Arithmetic&, const Arithmetic&) = default;
};

/// Reads arithmetic on rows of these fields.
///
/// Throws UsageError with what is wrong and what was expected, without file and line: the caller
/// knows those.
Arithmetic parse_arithmetic(std::string_view text, const std::vector<Field>& fields);

/// Its value for a row; a text is good as long as both are.
///
/// Throws JobFailed: a number does not fit into its type.
Cell value_of(const Arithmetic& arithmetic, const Row& row);

}  // namespace millrace
