#pragma once

#include <string>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// A [[step]] with `window` and `aggregate`, over rows of these fields: read, written, and told to
// the fingerprint. Reading throws UsageError, and leaves the step's other keys.

WindowSpec read_window_step(TomlSection& step, const std::vector<Field>& fields);
std::string to_toml(const WindowSpec& window, const std::vector<Field>& fields);
void add_fingerprint(const WindowSpec& window, const std::vector<Field>& fields,
                     std::vector<FingerprintPart>& parts);

}  // namespace millrace
