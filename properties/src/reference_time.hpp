#pragma once

#include <cstdint>
#include <optional>

#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/source/written_time.hpp"

namespace millrace::properties {

/// The event time that a cell holds, in milliseconds; nothing: it is none of the years 1 to 9999.
std::optional<std::int64_t> reference_time(const OwnedCell& cell, TimeFormat format);

}  // namespace millrace::properties
