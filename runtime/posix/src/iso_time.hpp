#pragma once

#include <string>

#include "millrace/env/event_time.hpp"

namespace millrace::posix {

/// `2026-03-01T12:00:00.250Z`.
std::string iso_time(EventTime time);

}  // namespace millrace::posix
