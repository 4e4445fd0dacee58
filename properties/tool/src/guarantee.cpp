#include "guarantee.hpp"

#include <fmt/format.h>

#include "millrace/env/invariant.hpp"
#include "millrace/runtime/job/names.hpp"

namespace millrace::tool {

Guarantee guarantee_of(SinkMode mode, std::chrono::nanoseconds checkpoint_interval,
                       const std::string& due) {
  switch (mode) {
    case SinkMode::staged:
      return {
          "exactly once",
          "rows are staged with each checkpoint and published with its marker in one "
          "transaction, so that a reader sees whole checkpoints, never a part of one and never "
          "one twice",
          fmt::format("a row appears about {} after {}: with the next checkpoint",
                      describe(std::chrono::duration_cast<Duration>(checkpoint_interval)), due)};
    case SinkMode::upsert:
      return {
          "each row once by its key",
          "a row replaces the one with its key, and is written again, the same, after a recovery",
          fmt::format("a row appears when {}, before its checkpoint is decided", due)};
    case SinkMode::insert:
      return {"at least once",
              "rows are added at once, and after a recovery those since the last checkpoint are "
              "there TWICE",
              fmt::format("a row appears when {}, before its checkpoint is decided", due)};
  }
  violated("a sink has a mode", Where::here());
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string out;
  std::size_t begin = 0;
  while (text.size() - begin > width) {
    const auto blank = text.rfind(' ', begin + width);
    if (blank == std::string::npos || blank <= begin) break;
    out += text.substr(begin, blank - begin) + "\n" + indent;
    begin = blank + 1;
  }
  return out + text.substr(begin);
}

}  // namespace millrace::tool
