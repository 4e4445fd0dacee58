#pragma once

#include <vector>

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// Whether a record passes all filters, by the reference's own reading of the conditions.
bool keeps(const std::vector<FilterSpec>& filters, const OwnedRow& record);

}  // namespace millrace::properties
