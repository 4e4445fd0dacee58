#pragma once

#include <string>

#include "millrace/env/error.hpp"

namespace millrace::tool {

/// Why Millrace will not go on, what going on would cost, and what can be done.
std::string explain(const Refused& refused);

}  // namespace millrace::tool
