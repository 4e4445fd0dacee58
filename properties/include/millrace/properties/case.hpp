#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/faults/fault.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/properties/outcome.hpp"
#include "millrace/runtime/checkpoint_options.hpp"
#include "millrace/runtime/job_spec.hpp"
#include "millrace/sim/choice.hpp"

namespace millrace::properties {

struct Subject;

/// What holds the sink's table on the database's node.
enum class DatabaseKind : std::uint8_t {
  sqlite,  ///< SQLite on the simulated disk.
  memory,  ///< sim::MemoryDatabase: every commit durable, a run several times as fast.
};

/// How large the simulated cluster is. Beside the workers it has two coordinators, an object store,
/// a database and a log.
struct ClusterShape {
  std::uint32_t workers = 1;
  std::uint32_t parallelism = 1;
  DatabaseKind database = DatabaseKind::sqlite;
  friend bool operator==(const ClusterShape&, const ClusterShape&) = default;
};

/// Everything that decides a run: a run is a function of a case and of the program.
struct Case {
  JobSpec job;
  std::string registered;  ///< Name of a job in C++, instead of `job`.
  Input input;
  ClusterShape cluster;
  std::chrono::nanoseconds arrival{0};  ///< The input arrives over about this long.
  CheckpointOptions checkpoint;
  RestartOptions restart;
  std::uint64_t seed = 0;
  bool is_quiet = false;             ///< Nothing is left to chance: every draw is 0.
  std::vector<sim::Choice> choices;  ///< Draws that are what stands here, and not of the seed.
  faults::Plan plan;

  // What was seen when the case was written.
  Verdict expect = Verdict::held;
  std::string build;
  std::optional<std::uint64_t> trace_hash;
};

/// Writes a case for people and for `parse_case` (CASE.md). `comments` go on top, a line each.
/// `path_of` says how the case's file refers to the file of a partition that is too long to be
/// written out.
std::string to_text(const Case& written, const std::vector<std::string>& comments,
                    const std::function<std::string(const std::string& origin)>& path_of);

/// What a case adds to its job and input: cluster, timing and plan, as they stand in its text.
std::string setting_text(const Case& written);

/// Reads a case. `read_file` reads a file that the case refers to.
/// Throws UsageError naming file, line, key and what was expected.
Case parse_case(std::string_view text, const std::string& file,
                const std::function<std::string(const std::string& path)>& read_file);

/// The seed of run number `index` of a campaign: 52 bits, so that any JSON reader keeps them.
std::uint64_t run_seed(std::uint64_t campaign_seed, std::uint64_t index);

/// The case of a seed: cluster, timing and plan are drawn, the job and its input given.
Case generate_case(const JobSpec& job, const Input& input, std::uint64_t seed);
Case generate_case(const Subject& subject, std::uint64_t seed);

}  // namespace millrace::properties
