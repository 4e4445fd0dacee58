#include "tree.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

namespace millrace::tidy {
namespace {

constexpr const char* rooms[] = {"runtime", "sim", "faults", "properties", "corpus", "tests"};

bool is_read(const std::string& path) {
  return is_source(path) || path.ends_with("CMakeLists.txt") || path.ends_with(".md") ||
         path.ends_with(".toml");
}

}  // namespace

bool is_source(const std::string& path) { return path.ends_with(".cpp") || path.ends_with(".hpp"); }

Tree read_tree(const std::string& root) {
  Tree tree;
  for (const char* const room : rooms) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/" + room)) {
      const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
      if (!is_read(path)) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      tree[path] = std::string(std::istreambuf_iterator<char>(file), {});
    }
  }
  return tree;
}

std::vector<std::string> unbuilt(const Tree& tree) {
  std::vector<std::string> found;
  for (const auto& [path, text] : tree) {
    if (!is_source(path)) continue;
    const std::filesystem::path file(path);
    // Headers of tests and of a room's inside are found by whoever includes them.
    if (path.ends_with(".hpp") && path.find("/include/") == std::string::npos) continue;
    bool is_named = false;
    for (auto folder = file.parent_path(); !folder.empty() && !is_named;
         folder = folder.parent_path()) {
      const auto list = tree.find((folder / "CMakeLists.txt").generic_string());
      if (list == tree.end()) continue;
      const std::string name = std::filesystem::relative(file, folder).generic_string();
      const std::string stem = file.stem().string();
      is_named = list->second.find(name) != std::string::npos ||
                 list->second.find("(" + stem) != std::string::npos;  // millrace_bench(stem ...)
    }
    if (!is_named) found.push_back(path);
  }
  return found;
}

std::vector<std::string> unreached_landmarks(const Tree& tree) {
  const std::string& list = tree.at("runtime/include/millrace/runtime/landmarks.hpp");
  std::vector<std::string> found;
  static const std::regex declaration(R"(constexpr Landmark (\w+)\s*\{)");
  for (std::sregex_iterator at(list.begin(), list.end(), declaration), end; at != end; ++at) {
    const std::string use = "landmarks::" + (*at)[1].str();
    bool is_reached = false;
    for (const auto& [path, text] : tree) {
      if (path.starts_with("runtime/") && text.find(use) != std::string::npos) is_reached = true;
    }
    if (!is_reached) found.push_back((*at)[1].str());
  }
  return found;
}

}  // namespace millrace::tidy
