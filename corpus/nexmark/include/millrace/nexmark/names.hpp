#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::nexmark {

// Whom and what the benchmark knows. The order counts: the generator draws places in these lists.

inline constexpr std::array<std::string_view, 11> first_names{
    "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"};
inline constexpr std::array<std::string_view, 9> last_names{
    "Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"};
inline constexpr std::array<std::string_view, 10> cities{
    "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland",
    "Bend",    "Redmond",     "Seattle",       "Kent",  "Cheyenne"};
inline constexpr std::array<std::string_view, 6> states{"AZ", "CA", "ID", "OR", "WA", "WY"};

/// How many names there are: every first one with every last one.
inline constexpr std::uint32_t names = first_names.size() * last_names.size();

constexpr std::uint32_t name_at(std::uint32_t first, std::uint32_t last) {
  return first * static_cast<std::uint32_t>(last_names.size()) + last;
}
inline std::string name_text(std::uint32_t name) {
  std::string text(first_names[name / last_names.size()]);
  text += ' ';
  text += last_names[name % last_names.size()];
  return text;
}

}  // namespace millrace::nexmark
