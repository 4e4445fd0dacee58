#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/row.hpp"

namespace millrace {

/// The number of the field of that name. `key` is the key of `at` whose value names it; `value`,
/// if it is not null, is where in a list.
///
/// Throws UsageError: there is none; the message lists those that there are.
std::uint32_t find_field(const std::vector<Field>& fields, std::string_view name,
                         const TomlSection& at, std::string_view key,
                         const TomlValue* value = nullptr);

/// `a, b, c`.
std::string list_of_names(const std::vector<Field>& fields);

/// `["a", "b"]`, as TOML writes it.
std::string toml_list(const std::vector<std::string>& texts);

}  // namespace millrace
