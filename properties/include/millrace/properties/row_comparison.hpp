#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "millrace/properties/outcome.hpp"
#include "millrace/properties/reference.hpp"

namespace millrace::properties {

/// The rows that a reader has seen, against a reference.
struct RowComparison {
  RowCounts counts;
  std::vector<std::string> examples;  ///< A few, as sentences.
};

/// The rows of the reference that are `required` must be there, those that are `allowed` may be;
/// each as often as it stands there. Rows are told apart by the reference's key columns.
///
/// Of a family that is open, no more may be there than it has at most, none twice, and none before
/// it is due; and when all rows are required, the newest is the one that is known.
RowComparison compare_rows(const Reference& reference, const ShownRows& required,
                           const ShownRows& allowed, const std::vector<OwnedRow>& seen);
/// The first so many of the reference.
RowComparison compare_rows(const Reference& reference, std::size_t required, std::size_t allowed,
                           const std::vector<OwnedRow>& seen);

}  // namespace millrace::properties
