#pragma once

#include <cstdint>
#include <vector>

#include "reference_rows.hpp"

namespace millrace::properties {

/// What a window or a table makes of rows.
struct ReferenceResults {
  std::vector<Reference::ExpectedRow> rows;  ///< In no order.
  Reference::Families families;
  std::vector<OwnedRow> may_be_late;  ///< Rows that may be dropped, as they came.
  bool knows_progress = true;         ///< Whether it is known when the rows come,
  bool is_ordered = true;             ///< and whether those of one partition come in its order.
};

/// The rows of each key and window, folded at once when all of them are known.
ReferenceResults reference_window(const WindowSpec& window, const std::vector<Field>& fields,
                                  const ReferenceStream& stream);

}  // namespace millrace::properties
