#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/sink_table.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/properties/reference.hpp"
#include "millrace/properties/user_job.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// Where a simulated log's files and a simulated database's table are.
inline constexpr const char* input_directory = "input/";
inline constexpr const char* sink_database = "sink.db";

/// A table that a job writes, and what it must hold.
struct SubjectTable {
  std::string sink;  ///< The operator's name.
  TableSchema schema;
  Reference reference;
  bool is_late = false;  ///< Of a job file: it holds rows that were too late for a window.
};

/// An effect that a job's functions asked for without a key (UserCode).
struct AskedEffect {
  std::string by;  ///< The operator.
  std::string service;
  std::string request;
  std::uint64_t cause = 0;
  friend auto operator<=>(const AskedEffect&, const AskedEffect&) = default;
};
/// How often each.
using EffectCounts = std::map<AskedEffect, std::uint64_t>;

/// A job and its input, made ready for many runs.
struct Subject {
  /// Of a job file, whose reference is computed from what it says (Reference).
  /// Throws UsageError: the input has a bad record.
  Subject(const JobSpec& job_spec, const Input& job_input);

  /// Of a job in C++. Its reference is its own, or it is what the job shows when nothing goes wrong
  /// and nothing is left to chance. Then it is run calm under `calm_schedules` others, too: where
  /// these show something else, so does `interleaving`, and of rows that a storm leaves nothing can
  /// be said.
  /// Throws UsageError; JobFailed: calm, it does not get to its end.
  Subject(const UserJob& user_job, const Input& job_input);

  std::string name;        ///< Of the job.
  std::string registered;  ///< The same of a job in C++; empty of a job file.
  JobSpec written;         ///< As it was given. Of a job file only.
  JobSpec spec;  ///< With the paths of the simulated world, so that a run is the same everywhere.
  Input input;
  Job job;
  std::vector<SubjectTable> tables;
  EffectCounts calm_effects;                    ///< Of a job in C++, when nothing goes wrong.
  std::optional<std::string> interleaving;      ///< How its result depends on the interleaving.
  std::optional<std::uint64_t> differing_seed;  ///< Of the calm case that showed it.

  const Reference& reference() const { return tables.front().reference; }
  /// How many there are in the input: of a job in C++ its lines.
  std::uint64_t records() const;
};

/// The case of a seed, but nothing goes wrong in it.
Case calm_case(const Subject& subject, std::uint64_t seed);

/// How often a job without a reference is run calm, besides the quiet run.
inline constexpr std::uint64_t calm_schedules = 6;

}  // namespace millrace::properties
