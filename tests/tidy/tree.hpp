#pragma once

#include <map>
#include <string>
#include <vector>

namespace millrace::tidy {

/// The project's own texts, by their paths from its root.
using Tree = std::map<std::string, std::string>;

/// Whether a path is that of a source or header.
bool is_source(const std::string& path);

/// Reads all sources, headers, build files, pages and TOML files.
Tree read_tree(const std::string& root);

/// Sources and headers that no build file beside or above them names.
std::vector<std::string> unbuilt(const Tree& tree);

/// Variables of `landmarks.hpp` that no source of the processor reaches.
std::vector<std::string> unreached_landmarks(const Tree& tree);

}  // namespace millrace::tidy
