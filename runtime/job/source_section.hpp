#pragma once

#include <string>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// [source], read and written. Throw UsageError.

SourceSpec read_source(TomlSection source);
std::string to_toml(const SourceSpec& source);

}  // namespace millrace
