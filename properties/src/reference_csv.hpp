#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/row.hpp"

namespace millrace::properties {

/// A line of comma-separated values, as the reference reads it: of each cell its text, and whether
/// it stood in quotes.
struct ReferenceCells {
  struct Cell {
    std::string text;
    bool is_quoted = false;
  };
  std::vector<Cell> cells;
  std::string why_bad;  ///< Empty: it is good.
};
ReferenceCells reference_cells(std::string_view line);

/// What a cell is for a field of this type; nothing: it is of another type.
std::optional<OwnedCell> reference_value(const ReferenceCells::Cell& cell, const Field& field);

}  // namespace millrace::properties
