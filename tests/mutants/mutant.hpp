#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

// What woven sources may use besides their own includes.
#include "millrace/env/envelope.hpp"

namespace millrace::mutants {

/// The planted bug that is awake; none if it is empty. Set between runs only.
extern std::string active;

inline bool on(std::string_view id) { return active == id; }

}  // namespace millrace::mutants
