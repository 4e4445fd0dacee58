#pragma once

#include <string>

#include "millrace/runtime/checkpoint_options.hpp"
#include "millrace/runtime/job/toml_section.hpp"

namespace millrace {

// [checkpoint] and [restart], read and written. What they leave out is as the options are by
// themselves. Throw UsageError.

/// All but `directory`.
CheckpointOptions read_checkpoint(TomlSection& checkpoint);
RestartOptions read_restart(TomlSection& restart);

/// Without their headings.
std::string to_toml(const CheckpointOptions& checkpoint);
std::string to_toml(const RestartOptions& restart);

}  // namespace millrace
