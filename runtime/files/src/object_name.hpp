#pragma once

#include <string>
#include <string_view>

namespace millrace {

/// Stands in the names of files that are no objects: temporary ones and locks. No object's name can
/// hold it.
inline constexpr char not_an_object = '~';

/// Whether an object can be called that: parts of letters, digits, `.`, `-` and `_`, separated by
/// `/`. No part is empty, `.` or `..`, so a name cannot leave the directory.
bool is_object_name(std::string_view name);

/// Throws UsageError unless `is_object_name`.
void expect_object_name(std::string_view name);

/// The directory that holds `path`.
std::string directory_of(std::string_view path);

}  // namespace millrace
