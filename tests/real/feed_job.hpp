#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/properties/experiment.hpp"
#include "millrace/runtime/job_spec.hpp"

#include "temporary_directory.hpp"

namespace millrace::tests {

/// The first records of the feed job, in a directory of its own: job file, input, table and state.
///
/// The table is compared with the reference, which reads the same input.
class FeedJob {
 public:
  using Rows = std::vector<properties::OwnedRow>;

  FeedJob(const properties::Subject& subject, std::uint32_t parallelism);

  const std::string& directory() const { return directory_.path(); }
  /// With paths that mean the same in every working directory.
  const JobSpec& spec() const { return spec_; }

  /// What any program sees in the table now. Nothing: a kill has left the database so that only a
  /// writer can bring it into order.
  std::optional<Rows> visible() const;

  /// What is wrong with the table of a finished job. Empty: every row is there, once.
  std::string complaint() const;
  /// What is wrong with rows that are seen before the end. Empty: they are what one completed
  /// checkpoint would show, with no window shown in part.
  std::string complaint_about(const Rows& rows) const;

 private:
  std::string texts_of(const Rows& rows) const;

  posix::TemporaryDirectory directory_;
  const properties::Reference& reference_;
  JobSpec spec_;
};

}  // namespace millrace::tests
