// Weaves planted bugs into a copy of one source:  weave PATCHES ROOT FILE OUT
// A stale patch is left out, so that it fails its own test and not the build.

#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "patch.hpp"

namespace {

using namespace millrace::mutants;

int weave_file(const std::string& patches, const std::string& root, const std::string& file,
               const std::string& out) {
  std::ostringstream original;
  original << std::ifstream(root + "/" + file, std::ios::binary).rdbuf();
  std::string text = original.str();
  for (const Patch& patch : read_patches(patches)) {
    if (patch.file == file && count_places(text, patch) == 1) text = weave(text, patch);
  }
  std::ofstream woven(out, std::ios::binary);
  woven << "#include \"mutant.hpp\"\n#line 1 \"" << root << "/" << file << "\"\n" << text;
  return woven.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    return weave_file(argv[1], argv[2], argv[3], argv[4]);
  } catch (const millrace::UsageError& error) {
    fmt::print(stderr, "weave: {}\n", error.what());
    return 2;
  }
}
