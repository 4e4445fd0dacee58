#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "millrace/properties/input.hpp"
#include "millrace/properties/reference.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// A row as it comes out of a job's steps.
struct ReferenceRow {
  OwnedRow cells;
  std::int64_t time = 0;
  /// No operator that it comes to can have a larger watermark: its partition's just before it. The
  /// operator's is a minimum over partitions and can only be smaller (PROTOCOL 8, lateness).
  std::int64_t watermark = 0;
  ReadPoint read;
};

/// How far a partition has come, record by record.
struct ReferenceProgress {
  std::int64_t offset;  ///< Behind the record.
  std::int64_t newest;  ///< The newest event time up to and with it.
};

struct ReferenceRows {
  std::vector<ReferenceRow> rows;
  std::uint64_t records = 0;  ///< That were read, whatever the steps made of them.
  std::map<std::string, std::vector<ReferenceProgress>> progress;
};

/// Reads the input and runs the steps. Throws UsageError: a record is bad, and the job does not say
/// to skip it.
ReferenceRows reference_rows(const JobSpec& spec, const Input& input);

}  // namespace millrace::properties
