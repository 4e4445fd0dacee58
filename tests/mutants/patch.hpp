#pragma once

#include <string>
#include <vector>

namespace millrace::mutants {

/// A bug to be planted (corpus/mutants/README.md).
struct Patch {
  std::string id;           ///< The name of its file.
  std::string what;         ///< What goes wrong, in one sentence.
  std::string source;       ///< Where such a bug was seen.
  std::string judge;        ///< Who must convict it.
  std::string job;          ///< Of the corpus, or `random`: on which it is to be seen.
  std::string file;         ///< The source that it changes, from the root of the project.
  std::string original;     ///< Whole statements, which declare nothing that is used later.
  std::string replacement;  ///< What runs in their place while the bug is awake.
};

/// Reads all patches of a directory, sorted by id. Throws UsageError.
std::vector<Patch> read_patches(const std::string& directory);

/// How often `text` holds the original of a patch; once, unless the patch is stale.
std::size_t count_places(const std::string& text, const Patch& patch);

/// `text` with the original and its replacement behind a switch.
std::string weave(const std::string& text, const Patch& patch);

}  // namespace millrace::mutants
