#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "millrace/properties/input.hpp"
#include "millrace/properties/reference.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// A row as it comes out of a source or a step.
struct ReferenceRow {
  OwnedRow cells;
  std::int64_t time = 0;
  /// No operator that it comes to can have a larger watermark: its partition's just before it, or,
  /// of what a window or join has made, the instant before its time. The operator's is a minimum
  /// and can only be smaller (PROTOCOL 8, lateness); but it does not wait for what is idle, so of a
  /// partition that may be, it can be any.
  std::int64_t watermark = 0;
  /// It comes when all of these have been read; none: when everything up to `time` has come.
  std::vector<ReadPoint> causes;
  bool is_certain = true;  ///< Else it may be missing: something was too late for a join.
};

/// The rows of a source or a step, as the reference knows them.
struct ReferenceStream {
  std::vector<ReferenceRow> rows;
  /// Whether these are all, and are just so. Else, by the interleaving, a window on the way has
  /// made others, and what becomes of them is anybody's guess.
  bool is_certain = true;
  bool knows_progress = true;  ///< Whether it is known when they come.
  /// Whether watermarks wait for every partition: else what comes by them may come sooner.
  bool waits_for_all = true;
  bool is_ordered = true;         ///< Whether rows of one partition come in its order.
  std::set<std::size_t> sources;  ///< Whose records they are made of.
  /// The sources whose watermarks say when the rows without causes come, if there are any.
  std::set<std::size_t> clock;
};

/// How far a partition has come, record by record.
struct ReferenceProgress {
  std::int64_t offset;     ///< Behind the record.
  std::int64_t watermark;  ///< Of the partition when the record has been read.
};

/// What the input holds.
struct ReferenceSource {
  ReferenceStream stream;
  std::map<std::string, std::vector<ReferenceProgress>> progress;  ///< Of each partition.
};

/// Reads the partitions of one of a job's sources. Throws UsageError: a record is bad, and the job
/// does not say to skip it.
ReferenceSource reference_source(const JobSpec& spec, std::size_t source, const Input& input);

/// What a filter, set or keep makes of rows.
void apply_row_step(const StepWork& step, std::vector<ReferenceRow>& rows);

/// The rows of all of them.
ReferenceStream reference_union(const std::vector<const ReferenceStream*>& streams);

}  // namespace millrace::properties
