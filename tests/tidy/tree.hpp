#pragma once

#include <map>
#include <string>
#include <vector>

namespace millrace::tidy {

/// The project's own texts, by their paths from its root.
using Tree = std::map<std::string, std::string>;

/// Reads all sources, headers and build files.
Tree read_tree(const std::string& root);

/// Sources and headers that no build file beside or above them names.
std::vector<std::string> unbuilt(const Tree& tree);

/// Variables of `landmarks.hpp` that no source of the processor reaches.
std::vector<std::string> unreached_landmarks(const Tree& tree);

}  // namespace millrace::tidy
