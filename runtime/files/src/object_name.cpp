#include "object_name.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && std::ranges::all_of(part, is_allowed);
}

}  // namespace

bool is_object_name(std::string_view name) {
  while (true) {
    const auto slash = name.find('/');
    if (!is_part(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

void expect_object_name(std::string_view name) {
  if (is_object_name(name)) return;
  throw UsageError(fmt::format(
      "`{}` cannot be the name of an object: expected letters, digits, `.`, `-` and `_` in parts "
      "separated by `/`, none of them empty, `.` or `..`",
      name));
}

std::string directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

}  // namespace millrace
