#pragma once

#include <chrono>
#include <string>

#include "millrace/env/sink_table.hpp"

namespace millrace::tool {

/// What a reader of a table is promised, from the input to the row that he sees.
struct Guarantee {
  std::string promise;  ///< `exactly once`.
  std::string reason;   ///< Why that holds, or why it holds no more.
  std::string latency;  ///< When a row appears.
};

/// `due` is when a row is ready to be seen: `its window has closed`.
Guarantee guarantee_of(SinkMode mode, std::chrono::nanoseconds checkpoint_interval,
                       const std::string& due);

/// As lines of at most `width` bytes, broken at blanks, each but the first behind `indent`.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent);

}  // namespace millrace::tool
