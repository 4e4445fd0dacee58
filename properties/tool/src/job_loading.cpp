#include "job_loading.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/files/file_log.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/job_file.hpp"

namespace millrace::tool {

std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> piece(1 << 16);
  while (file.read(piece.data(), std::ssize(piece)) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    const char* const reason = errno == 0 ? "it cannot be read" : std::strerror(errno);
    throw UsageError(fmt::format("{}: {}", path, reason));
  }
  return text;
}

JobSpec load_job(const std::string& path, const std::vector<std::string>& settings) {
  std::vector<Setting> parsed;
  for (const std::string& setting : settings) parsed.push_back(parse_setting(setting));
  return parse_job_file(read_text(path), path, parsed);
}

namespace {

std::uint32_t parallelism_of(const Setting& setting) {
  std::uint32_t number = 0;
  const char* const end = setting.value.data() + setting.value.size();
  const auto [at, error] = std::from_chars(setting.value.data(), end, number);
  if (error == std::errc{} && at == end && number >= 1 && number <= 128) return number;
  throw UsageError(fmt::format("--set {}: `{}`; 1 to 128 is expected", setting.key, setting.value));
}

/// When rows of these are ready to be seen: what holds them back longest.
std::string due_of(const JobSpec& spec, const Inputs& inputs) {
  std::string due = "its record was read";
  for (const std::size_t number : inputs) {
    const StepSpec* const step = spec.step_at(number);
    if (step == nullptr) continue;
    if (const auto* const window = std::get_if<WindowSpec>(&step->work)) {
      return window->has_bounds() ? "its window has closed" : "so many records were read";
    }
    if (const auto* const join = std::get_if<JoinSpec>(&step->work)) {
      if (join->window) return "its window has closed";
      due = "both of its records were read";
    }
    const std::string before = due_of(spec, step->inputs);
    if (before != "its record was read") due = before;
  }
  return due;
}

RealJob real_job(const JobSpec& spec) {
  RealJob real{spec.name,        build_job(spec), {},           {}, spec.state_directory,
               spec.parallelism, spec.checkpoint, spec.restart, {}};
  for (const SourceSpec& source : spec.sources) real.addresses.push_back(source.address);
  for (const JobTable& table : tables_of(spec)) {
    real.tables.push_back({table.sink.name, table.sink.database, table.schema,
                           table.late_of ? "it came too late" : due_of(spec, table.sink.inputs)});
  }
  return real;
}

RealJob real_job(const UserRun& run) {
  RealJob real{run.job.name,
               run.job.make(run.job.places),
               {},
               {},
               "",
               run.parallelism,
               run.checkpoint,
               run.restart,
               run.job.services};
  real.state_directory =
      run.job.state_directory.empty() ? run.job.name + ".state" : run.job.state_directory;
  for (const Node* node : real.job.nodes()) {
    if (node->sink)
      real.tables.push_back({node->name, node->sink->database, node->sink->schema, "it was made"});
    if (node->role == Node::Role::source && node->partitions == nullptr) {
      real.addresses.push_back(node->address);
    }
  }
  return real;
}

}  // namespace

UserRun load_user_job(const properties::UserJob& job, const std::vector<std::string>& settings) {
  UserRun run{job, 1, {}, {}};
  std::vector<Setting> of_operation;
  for (const std::string& text : settings) {
    const Setting setting = parse_setting(text);
    if (setting.key == "job.parallelism") {
      run.parallelism = parallelism_of(setting);
    } else if (setting.key == "source.files") {
      run.job.places.input = setting.value;
    } else if (setting.key == "sink.database") {
      run.job.places.database = setting.value;
    } else if (setting.key.starts_with("checkpoint.") || setting.key.starts_with("restart.")) {
      of_operation.push_back(setting);
    } else {
      throw UsageError(
          fmt::format("--set {}: of a job in C++ these can be set: job.parallelism, source.files, "
                      "sink.database, and all of checkpoint and restart",
                      setting.key));
    }
  }
  const OperationSettings operation = parse_operation(of_operation);
  if (!operation.state_directory.empty()) run.job.state_directory = operation.state_directory;
  run.checkpoint = operation.checkpoint;
  run.restart = operation.restart;
  return run;
}

void expect_job(const std::string& job) {
  std::error_code error;
  if (job.ends_with(".toml") || std::filesystem::exists(job, error)) return;
  throw UsageError(
      fmt::format("{}: neither a job file nor the name of a job in C++; `jobs` lists those", job));
}

RealJob load_real_job(const std::string& job, const std::vector<std::string>& settings,
                      const Jobs& jobs) {
  if (const auto* const user = find_job(jobs, job)) return real_job(load_user_job(*user, settings));
  expect_job(job);
  return real_job(load_job(job, settings));
}

properties::Input load_input(const std::string& address) {
  posix::PosixDisk disk;
  properties::Input input;
  const auto slash = address.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : address.substr(0, slash + 1);
  for (const PartitionFacts& partition : FileLog(disk).partitions(address, Instant::never())) {
    const std::string path = directory + partition.name;
    input.partitions.push_back({partition.name, read_text(path), path});
  }
  return input;
}

properties::Input load_input(const JobSpec& spec) {
  properties::Input input;
  for (const SourceSpec& source : spec.sources) {
    for (properties::InputPartition& partition : load_input(source.address).partitions) {
      partition.name = properties::partition_name(spec, source.name, partition.name);
      input.partitions.push_back(std::move(partition));
    }
  }
  std::sort(input.partitions.begin(), input.partitions.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return input;
}

properties::Subject subject_of(const properties::Case& scenario, const Jobs& jobs) {
  if (scenario.registered.empty()) return {scenario.job, scenario.input};
  const auto* const user = find_job(jobs, scenario.registered);
  if (user == nullptr) {
    throw UsageError(
        fmt::format("the case is about `{}`, a job in C++ that this program does not "
                    "bring; `jobs` lists those it does",
                    scenario.registered));
  }
  return {*user, scenario.input};
}

}  // namespace millrace::tool
