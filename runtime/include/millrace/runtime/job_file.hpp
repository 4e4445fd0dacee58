#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/job_spec.hpp"

namespace millrace {

/// `--set sink.table=other`: replaces or adds a value of a job file.
struct Setting {
  std::string key;    ///< Names joined by dots; elements of lists by their number, from 0.
  std::string value;  ///< TOML; what is none is taken as a text.
};

/// Reads `key=value`. Throws UsageError.
Setting parse_setting(std::string_view text);

/// Reads a job from TOML (JOBFILE.md).
///
/// Throws UsageError: `quakes.toml:13: there is no field `magnitud`; the fields are network, time`.
JobSpec parse_job_file(std::string_view text, const std::string& file,
                       const std::vector<Setting>& settings = {});

/// What a job file says in [checkpoint] and [restart].
struct OperationSettings {
  std::string state_directory;  ///< Empty: nothing was said of it.
  CheckpointOptions checkpoint;
  RestartOptions restart;
};

/// The same for a job that has no file, from settings of `checkpoint.` and `restart.` alone.
///
/// Throws UsageError: `--set: `checkpoint.timeout` is 0; a span above 0 is expected`.
OperationSettings parse_operation(const std::vector<Setting>& settings);

/// A job file that says the same, every default written out.
std::string to_toml(const JobSpec& spec);

}  // namespace millrace
