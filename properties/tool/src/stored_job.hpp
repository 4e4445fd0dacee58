#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/runtime/coordinator/head.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/coordinator/takeover.hpp"

#include "job_loading.hpp"

namespace millrace::tool {

/// What a job's store says of it: the newest decided checkpoint.
struct StoredJob {
  Head head;
  Manifest manifest;
  std::uint64_t manifest_bytes = 0;

  /// What a recovery would read of an operator.
  struct Operator {
    std::uint64_t state_bytes = 0;
    std::uint64_t staged_rows = 0;
    std::uint64_t staged_bytes = 0;
  };
  /// Of those that keep or stage anything.
  std::map<std::string, Operator> operators() const;

  /// Of all that a recovery would read: manifest, state, and rows that are staged.
  std::uint64_t size_bytes() const;
};

/// Reads the head and the manifest that it names, and changes nothing. Nothing: there is no head.
/// Somebody may run the job meanwhile.
///
/// Throws Refused: either cannot be read, or they do not fit. WorldError.
std::optional<StoredJob> read_stored_job(const std::string& state_directory);

/// The same, for who can do nothing without.
/// Also throws UsageError: there is no head.
StoredJob expect_stored_job(const RealJob& real);

/// Who runs the job now: `process 4711 on river, since ...`. Nothing: nobody does.
/// Throws IoError.
std::optional<std::string> owner_of(const std::string& state_directory);

/// What the job is now, for find_mismatch.
/// Throws UsageError: an input is not there.
JobFacts facts_of(const RealJob& real);

}  // namespace millrace::tool
