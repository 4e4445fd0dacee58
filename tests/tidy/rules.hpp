#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::tidy {

/// What no source may hold, and where it may all the same.
struct Rule {
  std::string_view name;
  std::string_view pattern;                  ///< A regular expression over code without comments.
  std::vector<std::string_view> rooms;       ///< Beginnings of the paths that it is about.
  std::vector<std::string_view> exceptions;  ///< Beginnings of the paths that it is not about.
};
const std::vector<Rule>& rules();

struct Violation {
  std::string_view rule;
  std::size_t line;
  std::string text;
};

/// What is wrong with a source, by its path from the root of the project. Pure.
std::vector<Violation> violations_in(std::string_view path, std::string_view source);

}  // namespace millrace::tidy
