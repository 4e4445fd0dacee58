#pragma once

#include <cstdint>
#include <string>

#include "millrace/env/event_time.hpp"

namespace millrace::tool {

/// `0 bytes`, `999 bytes`, `1.5 KiB`, `12.0 GiB`: rounded down.
std::string size_text(std::uint64_t bytes);

/// `2018-02-01T12:00:00.250Z`; `-` for what is no record's time: before the first, or the end.
std::string time_text(EventTime time);

}  // namespace millrace::tool
