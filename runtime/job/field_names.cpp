#include "field_names.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace millrace {

std::uint32_t find_field(const std::vector<Field>& fields, std::string_view name,
                         const TomlSection& at, std::string_view key, const TomlValue* value) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found != fields.end()) return static_cast<std::uint32_t>(found - fields.begin());
  const auto what = fmt::format("{}: there is no field `{}`; the fields are {}", at.path_of(key),
                                name, list_of_names(fields));
  if (value != nullptr) at.fail_at(*value, what);
  at.fail_key(key, what);
}

std::string list_of_names(const std::vector<Field>& fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> list;
  for (const std::string& text : texts) list.push_back(toml_quoted(text));
  return fmt::format("[{}]", fmt::join(list, ", "));
}

}  // namespace millrace
