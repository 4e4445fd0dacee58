#pragma once

#include <string>
#include <vector>

#include "millrace/properties/input.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::tool {

/// The whole text of a file. Throws UsageError naming it and the reason.
std::string read_text(const std::string& path);

/// Reads a job file with the settings of `--set`.
JobSpec load_job(const std::string& path, const std::vector<std::string>& settings);

/// Reads all of a job's input.
properties::Input load_input(const JobSpec& spec);

}  // namespace millrace::tool
