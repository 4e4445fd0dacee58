#include "system_error.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::posix {

std::string error_text(int error_number) { return std::generic_category().message(error_number); }

void throw_io_error(int error_number, std::string_view doing, std::string_view path) {
  const auto text = fmt::format("cannot {} {}: {}", doing, path, error_text(error_number));
  switch (error_number) {
    case ENOENT: throw NotFound(text);
    case ENOSPC:
    case EDQUOT: throw NoSpace(text);
    default: throw IoError(text);
  }
}

}  // namespace millrace::posix
