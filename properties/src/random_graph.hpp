#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/sim/draws.hpp"

#include "random_input.hpp"

namespace millrace::properties {

/// What a random job has beside steps behind one source: another source, merged or joined with the
/// first into rows of the same fields, files of another format, and a window behind its window.
class RandomGraph {
 public:
  /// Draws at sites of its own, so that what others draw stays the same.
  explicit RandomGraph(sim::Draws& draws) : draws_(draws) {}

  std::vector<RandomSource> sources();
  /// The steps that make one stream of all sources; `window` is in milliseconds, `key` a field.
  std::string first_steps(const std::vector<RandomSource>& sources, std::int64_t window,
                          std::string_view key);
  /// What a window has instead of `aggregate`, or nothing.
  std::string largest_rows();
  /// A window over results of another, or nothing. `key` is one of its columns, and `a0`.
  std::string second_window(std::int64_t window, std::string_view key);

 private:
  std::string how_joined(std::int64_t window);

  sim::Draws& draws_;
};

}  // namespace millrace::properties
