#pragma once

#include <string>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// [sink] or [sinks.NAME], read and written, and `late` of a window, which is a small one. Throw
// UsageError.

/// What tells the rows of a sink apart.
struct Identity {
  std::vector<std::string> columns;  ///< All of them are needed.
  bool has_bounds = false;           ///< And `window_start` or `window_end`.
};

/// All but its name and what it reads. `columns` are those of the rows that come into it.
SinkSpec read_sink(TomlSection& sink, const std::vector<Field>& columns, const Identity& identity);
/// Without its heading.
std::string to_toml(const SinkSpec& sink);

/// `late = { table = ... }`. What it leaves out is as in the sink beside it.
SinkSpec read_late(TomlSection late, const SinkSpec& beside);
std::string late_to_toml(const SinkSpec& late);

}  // namespace millrace
