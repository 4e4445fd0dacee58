#pragma once

#include <cstdint>
#include <vector>

#include "reference_rows.hpp"

namespace millrace::properties {

/// What a window makes of rows.
struct ReferenceResults {
  std::vector<Reference::ExpectedRow> rows;  ///< In no order.
  Reference::Families families;
  std::vector<OwnedRow> may_be_late;  ///< Rows that may be dropped, as they came.
};

/// The rows of each key and window, folded at once when all of them are known.
ReferenceResults reference_window(const WindowSpec& window, const std::vector<Field>& fields,
                                  const std::vector<ReferenceRow>& rows);

}  // namespace millrace::properties
