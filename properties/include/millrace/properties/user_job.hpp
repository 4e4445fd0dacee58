#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/user_code.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job.hpp"

namespace millrace::properties {

/// Where a job finds its input and leaves its rows.
struct Places {
  std::string input;  ///< A path for the log, whose last part may hold `*`.
  std::string database;
};

/// The rows that one sink must have shown in the end, in any order.
struct ExpectedRows {
  std::string sink;  ///< The operator's name.
  std::vector<OwnedRow> rows;
};

/// A job written in C++, under a name that every command knows it by.
///
/// Everything that it needs is made anew for every run, from a place alone: so it can run for real
/// and, many thousand times, in the simulator.
struct UserJob {
  std::string name;
  std::string about;  ///< One sentence, for people.

  /// Throws UsageError. Reads from `places.input` and writes to `places.database`, and from and to
  /// nowhere else: what else a job touches, no simulated world has.
  std::function<Job(const Places& places)> make;

  /// When it runs for real, unless the command line says otherwise.
  Places places;
  std::string state_directory;  ///< Empty: its name and `.state`.
  /// Who does what its functions ask for (KeyContext::effect) when it runs for real. In a trial
  /// effects are counted, and nobody does them.
  Services services;

  /// Input for a trial, about so many records of it. Null: what lies at `places.input`.
  std::function<Input(std::uint64_t records)> sample;

  /// What the job must show of an input, found without it. Null: the job itself, run calm under
  /// several schedules, says so; then its own logic is on trial only against itself.
  std::function<std::vector<ExpectedRows>(const Input& input)> reference;
};

/// The job of this name among `jobs`, or null.
const UserJob* find_job(const std::vector<UserJob>& jobs, std::string_view name);

}  // namespace millrace::properties
