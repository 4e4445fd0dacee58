#pragma once

#include <string_view>

namespace millrace {

/// Whether `name` fits `pattern`, in which `*` stands for any characters and `?` for one. Neither
/// stands for a dot at the beginning.
bool glob_fits(std::string_view pattern, std::string_view name);

}  // namespace millrace
