#pragma once

#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// A [[step]] with `window` and `aggregate`, over rows of these fields: read, written, and told to
// the fingerprint. Reading throws UsageError, and leaves the step's other keys.

/// The kind of windows that a section is about, and their spans.
WindowShape read_shape(TomlSection& window);
/// The same as names and values, these as TOML.
std::vector<std::pair<std::string, std::string>> settings_of(const WindowShape& shape);
void add_fingerprint(const WindowShape& shape, const std::string& prefix,
                     std::vector<FingerprintPart>& parts);

WindowSpec read_window_step(TomlSection& step, const std::vector<Field>& fields);
std::string to_toml(const WindowSpec& window, const std::vector<Field>& fields);
void add_fingerprint(const WindowSpec& window, const std::vector<Field>& fields,
                     std::vector<FingerprintPart>& parts);

}  // namespace millrace
