#include "patch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/toml_section.hpp"

namespace millrace::mutants {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw UsageError(fmt::format("{}: it cannot be read", path.string()));
  return text.str();
}

Patch read_patch(const std::filesystem::path& path) {
  TomlSection file = TomlDocument(read(path), path.string()).root();
  Patch patch;
  patch.id = path.stem().string();
  patch.what = file.text("what");
  patch.source = file.text("source");
  patch.judge = file.text("judge");
  patch.job = file.text_or("job", "quakes_feed");
  patch.file = file.text("file");
  patch.original = file.text("original");
  patch.replacement = file.text("replacement");
  file.finish();
  return patch;
}

}  // namespace

std::vector<Patch> read_patches(const std::string& directory) {
  std::vector<Patch> patches;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".toml") patches.push_back(read_patch(entry.path()));
  }
  std::sort(patches.begin(), patches.end(),
            [](const Patch& a, const Patch& b) { return a.id < b.id; });
  return patches;
}

std::size_t count_places(const std::string& text, const Patch& patch) {
  std::size_t places = 0;
  for (auto at = text.find(patch.original); at != std::string::npos;
       at = text.find(patch.original, at + 1)) {
    ++places;
  }
  return places;
}

std::string weave(const std::string& text, const Patch& patch) {
  std::string woven = text;
  woven.replace(woven.find(patch.original), patch.original.size(),
                fmt::format("if (::millrace::mutants::on(\"{}\")) {{\n{}}} else {{\n{}}}\n",
                            patch.id, patch.replacement, patch.original));
  return woven;
}

}  // namespace millrace::mutants
