#pragma once

#include <string>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// A [[step]] with `filter`, `set` or `keep`, over rows of these fields: read and written. Throw
// UsageError.

StepWork read_row_step(TomlSection& step, const std::vector<Field>& fields);
std::string to_toml(const StepWork& work);

}  // namespace millrace
