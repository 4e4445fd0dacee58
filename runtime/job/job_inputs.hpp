#pragma once

#include <string>
#include <vector>

#include "millrace/runtime/job_spec.hpp"

namespace millrace {

// How a job file says which rows are read, and where its sections are headed.

/// What the rows are called that somebody reads.
std::vector<std::string> names_of(const JobSpec& spec, const Inputs& inputs);

/// Whether a step, by its number, or a sink reads what it reads without a `from`.
bool is_default_input(const JobSpec& spec, std::size_t step);
bool is_default_input(const JobSpec& spec, const SinkSpec& sink);

/// `source`, or `sources.NAME`.
std::string section_of_source(const JobSpec& spec, const SourceSpec& source);
/// `sink`, or `sinks.NAME`.
std::string section_of_sink(const JobSpec& spec, const SinkSpec& sink);

}  // namespace millrace
