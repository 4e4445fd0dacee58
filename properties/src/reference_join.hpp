#pragma once

#include <cstdint>

#include "reference_rows.hpp"

namespace millrace::properties {

/// What a join makes of the rows of two streams.
struct ReferencePairs {
  ReferenceStream stream;
  std::uint64_t may_be_late = 0;  ///< So many rows may be dropped as late.
};

/// Every pair, found at once when all rows are known. A pair is certain if none of its rows can be
/// late for what it lies in.
ReferencePairs reference_join(const JoinSpec& join, const ReferenceStream& left,
                              const ReferenceStream& right);

}  // namespace millrace::properties
