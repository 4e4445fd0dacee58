#pragma once

#include <string>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// [source] or [sources.NAME], read and written. Throw UsageError.

SourceSpec read_source(TomlSection source, const std::string& name);
/// Under that heading.
std::string to_toml(const SourceSpec& source, const std::string& section);

}  // namespace millrace
