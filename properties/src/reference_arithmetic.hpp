#pragma once

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job/arithmetic.hpp"

namespace millrace::properties {

/// The value of arithmetic on a row, in fractions of any length, rounded once for each operation.
/// Throws UsageError: it does not fit into its type.
OwnedCell compute(const Arithmetic& arithmetic, const OwnedRow& row);

}  // namespace millrace::properties
