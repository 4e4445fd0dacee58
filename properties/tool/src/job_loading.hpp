#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/env/sink_table.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/properties/subject.hpp"
#include "millrace/properties/user_job.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::tool {

/// The jobs in C++ that this program brings.
using Jobs = std::vector<properties::UserJob>;

/// The whole text of a file. Throws UsageError naming it and the reason.
std::string read_text(const std::string& path);

/// Reads a job file with the settings of `--set`.
JobSpec load_job(const std::string& path, const std::vector<std::string>& settings);

/// A job in C++ with the settings of `--set`: of what a job file knows, what is not the job's own.
/// Throws UsageError: `jobs` have none of this name, or a setting does not fit.
struct UserRun {
  properties::UserJob job;
  std::uint32_t parallelism = 1;
  CheckpointOptions checkpoint;
  RestartOptions restart;
};
UserRun load_user_job(const properties::UserJob& job, const std::vector<std::string>& settings);

/// A job that can be run for real, wherever it came from.
struct RealJob {
  struct Table {
    std::string sink;  ///< The operator's name.
    std::string database;
    TableSchema schema;
    std::string due = "its window has closed";  ///< When a row is ready to be seen.
  };
  std::string name;
  Job job;
  std::vector<std::string> addresses;  ///< Of its input.
  std::vector<Table> tables;
  std::string state_directory;
  std::uint32_t parallelism = 1;
  CheckpointOptions checkpoint;
  RestartOptions restart;
  Services services;  ///< Of a job in C++ only.
};

/// Throws UsageError: `job` looks like no job file, and there is none.
void expect_job(const std::string& job);

/// What stands for JOB on the command line: a name among `jobs`, or the path of a job file.
RealJob load_real_job(const std::string& job, const std::vector<std::string>& settings,
                      const Jobs& jobs);

/// Reads all of the input at `address`, or of all sources of a job.
properties::Input load_input(const std::string& address);
properties::Input load_input(const JobSpec& spec);

/// The job and the input of a case, made ready.
/// Throws UsageError: the case is about a job in C++ that this program does not bring.
properties::Subject subject_of(const properties::Case& scenario, const Jobs& jobs);

}  // namespace millrace::tool
