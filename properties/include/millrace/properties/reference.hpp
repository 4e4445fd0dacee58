#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// How far a run claims to have read a partition.
struct Claim {
  std::string partition;
  std::int64_t offset = 0;
  bool ended = false;
};

/// What a job must show: the exactly-once reference (PROTOCOL 8).
///
/// Interprets the validated job itself, and shares no code with the processor: another reader of
/// JSON, its own evaluation of conditions, windows and folds, exact arithmetic of another kind.
class Reference {
 public:
  /// Throws UsageError: the input has a bad record, and the job does not say to skip it. Such a job
  /// fails, and there is nothing to compare.
  Reference(const JobSpec& spec, const Input& input);

  /// Of rows that are known from elsewhere. Which of them are visible when is not known then.
  Reference(const TableSchema& schema, std::vector<OwnedRow> rows);

  /// A row, and when it becomes visible: as soon as everything up to `last_instant` has come.
  struct ExpectedRow {
    OwnedRow cells;
    std::int64_t last_instant = 0;
    /// Whether its value is certain: every record of its window must be counted, whatever the
    /// interleaving. False: one came so late that it may or may not be.
    bool is_certain = true;
  };
  /// By `last_instant`.
  const std::vector<ExpectedRow>& rows() const { return rows_; }
  const std::vector<std::string>& columns() const { return columns_; }
  /// Numbers of the columns by which rows are told apart: the sink's key, or all.
  const std::vector<std::size_t>& key_columns() const { return key_columns_; }
  /// Whether every row is certain, so that states can be compared by hash.
  bool is_exact() const { return is_exact_; }

  std::uint64_t records() const { return records_; }
  /// How many of them the filters keep.
  std::uint64_t kept_records() const { return kept_records_; }
  /// How many of these may be dropped: what may not must be counted, whatever the interleaving.
  std::uint64_t may_be_late() const { return may_be_late_; }
  /// The column that counts the records of a row, if there is one.
  std::optional<std::size_t> count_column() const { return count_column_; }

  /// Whether it is known which rows are visible when: else only that none are but these, and that
  /// all are at the end.
  bool knows_progress() const { return knows_progress_; }
  /// How many of `rows` are visible when the partitions have been read so far: R(c).
  std::size_t visible_rows(const std::vector<Claim>& claims) const;
  /// Their hash.
  const RowSetHash& hash_of_first(std::size_t rows) const { return prefix_hashes_[rows]; }

 private:
  struct Progress {
    std::int64_t offset;  ///< Behind the record.
    std::int64_t newest;  ///< The newest event time up to and with it.
  };

  std::vector<ExpectedRow> rows_;
  std::vector<RowSetHash> prefix_hashes_;  ///< Of the first n rows.
  std::vector<std::string> columns_;
  std::vector<std::size_t> key_columns_;
  std::map<std::string, std::vector<Progress>> progress_;  ///< Per partition, record by record.
  std::int64_t disorder_ms_ = 0;
  bool is_exact_ = true;
  bool knows_progress_ = true;
  std::uint64_t records_ = 0;
  std::uint64_t kept_records_ = 0;
  std::uint64_t may_be_late_ = 0;
  std::optional<std::size_t> count_column_;
};

}  // namespace millrace::properties
