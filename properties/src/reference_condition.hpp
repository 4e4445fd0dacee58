#pragma once

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// Whether a record passes a filter, by the reference's own reading of the condition.
bool keeps(const FilterSpec& filter, const OwnedRow& record);

}  // namespace millrace::properties
