#pragma once

#include <string>
#include <string_view>

namespace millrace::posix {

/// What an error number of the operating system means: `Permission denied`.
std::string error_text(int error_number);

/// Throws NotFound, NoSpace or IoError for `error_number`: `cannot open a/b: Permission denied`.
[[noreturn]] void throw_io_error(int error_number, std::string_view doing, std::string_view path);

}  // namespace millrace::posix
