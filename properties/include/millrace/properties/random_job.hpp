#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/properties/input.hpp"
#include "millrace/runtime/job_file.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// How large a random job's input may become, and what is not left to chance.
struct RandomScope {
  std::uint64_t records = 200;         ///< At most, in all partitions together.
  std::uint64_t partitions = 4;        ///< At most; from 1.
  std::optional<SinkMode> mode = {};   ///< Else staged or upsert.
  std::vector<Setting> settings = {};  ///< Put over what was drawn, as those of `--set`.
};

/// A job that nobody has written, and something for it to read.
struct RandomJob {
  JobSpec spec;
  Input input;
};

/// Draws a job and its input: a function of seed and scope. A smaller scope makes a smaller input
/// out of the same job.
///
/// What is drawn are the edges: nulls, empty keys and partitions, equal and early times, records
/// that come later than they may, lines that are no records where the job skips them, missing line
/// ends, numbers at which sums of doubles go wrong; and besides JSON comma-separated values, two
/// sources that are merged or joined, windows over results of windows. No sum of fewer than 90,000
/// records or pairs overflows, so no job fails. Throws UsageError: `settings` do not fit.
RandomJob random_job(std::uint64_t seed, const RandomScope& scope = {});

}  // namespace millrace::properties
