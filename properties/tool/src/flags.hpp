#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace millrace::tool {

// What the commands are told, one struct a command.

struct RunFlags {
  std::string job;
  std::optional<std::uint64_t> records_per_second;
  std::optional<std::uint32_t> parallelism;  ///< Nothing: what the job says.
  bool fresh = false;
  bool adopt = false;
  std::string log_file;
  std::vector<std::string> settings;
};

struct TestFlags {
  std::string job;
  std::uint64_t seeds = 200;
  std::optional<std::string> only_seed;
  std::uint64_t campaign_seed = 1;
  int jobs = 0;  ///< 0: one per processor.
  std::optional<std::uint64_t> input_records;
  bool json = false;
  std::string save_directory;  ///< Empty: ./millrace-cases, the first few.
  bool check_determinism = false;
  std::vector<std::string> settings;
};

struct ReplayFlags {
  std::string file;
  bool json = false;
  bool expect = false;
  bool check_determinism = false;
  std::string log_file;
};

struct ShrinkFlags {
  std::string file;
  std::uint64_t most_runs = 4000;
  bool json = false;
  std::string output;  ///< Empty: beside the case, as NAME.min.toml.
};

struct CheckFlags {
  std::string job;
  std::vector<std::string> settings;
  std::string svg_file;  ///< Empty: none.
};

struct InitFlags {
  std::string file = "job.toml";
};

struct DoctorFlags {
  std::string job;
  std::vector<std::string> settings;
};

struct StatusFlags {
  std::string job;
  bool json = false;
  std::vector<std::string> settings;
};

struct InspectFlags {
  std::string job;
  std::string checkpoint;  ///< Empty: the newest.
  bool json = false;
  std::vector<std::string> settings;
};

struct LandmarksFlags {};

struct JobsFlags {};

using Flags = std::variant<RunFlags, TestFlags, ReplayFlags, ShrinkFlags, CheckFlags, InitFlags,
                           LandmarksFlags, JobsFlags, DoctorFlags, StatusFlags, InspectFlags>;

/// What to do, or the exit code if everything is done already: help was asked for and printed, or
/// the flags are wrong and that was said.
std::variant<Flags, int> parse_flags(int argc, char** argv);

}  // namespace millrace::tool
