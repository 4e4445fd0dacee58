#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/properties/input.hpp"
#include "millrace/runtime/job_spec.hpp"

#include "reference_rows.hpp"
#include "reference_window.hpp"

namespace millrace::properties {

/// All that a job makes of an input, step by step.
class ReferenceGraph {
 public:
  /// Throws UsageError: a record is bad, and the job does not say to skip it.
  ReferenceGraph(const JobSpec& spec, const Input& input);

  /// What a table must hold.
  struct Table {
    ReferenceResults results;
    bool is_certain = true;         ///< Else anything may be there.
    std::set<std::size_t> sources;  ///< Whose records it is made of.
    std::uint64_t rows = 0;         ///< That came into its window, or into it.
  };
  Table table(const JobTable& table) const;

  std::uint64_t records() const { return records_; }
  /// How many rows may be dropped as late by all steps together; nothing: nobody can say.
  const std::optional<std::uint64_t>& may_be_late() const { return may_be_late_; }
  /// How far each partition of a source has come.
  const std::map<std::string, std::vector<ReferenceProgress>>& progress(std::size_t source) const {
    return progress_[source];
  }

 private:
  /// Of a window.
  struct Folded {
    ReferenceResults results;
    bool is_certain;  ///< Whether what it was made of is.
  };

  ReferenceStream rows_into(const Inputs& inputs) const;
  ReferenceStream rows_behind(std::size_t number, const StepSpec& step,
                              const std::vector<Field>& fields);
  ReferenceStream fold(std::size_t number, const WindowSpec& window, const ReferenceStream& into,
                       const std::vector<Field>& fields);
  void count_late(std::uint64_t rows, bool is_certain);

  const JobSpec& spec_;
  std::vector<ReferenceStream> streams_;  ///< By the numbers of the job.
  std::map<std::size_t, Folded> windows_;
  std::vector<std::map<std::string, std::vector<ReferenceProgress>>> progress_;
  std::uint64_t records_ = 0;
  std::optional<std::uint64_t> may_be_late_ = 0;
};

}  // namespace millrace::properties
