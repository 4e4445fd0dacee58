#pragma once

#include <string>
#include <string_view>

namespace millrace::tidy {

/// C++ with its comments and the insides of its texts blanked out, line by line where they were:
/// what is left is what a compiler acts upon.
std::string code_of(std::string_view source);

}  // namespace millrace::tidy
