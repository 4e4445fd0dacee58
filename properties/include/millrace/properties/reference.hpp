#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/properties/row_hash.hpp"
#include "millrace/runtime/job_spec.hpp"

namespace millrace::properties {

/// How far a run claims to have read a partition, by its name in the input.
struct Claim {
  std::string partition;
  std::int64_t offset = 0;
  bool ended = false;
};

/// Where a record lies: behind it, reading goes on at `offset`.
struct ReadPoint {
  std::string partition;
  std::int64_t offset = 0;
};

/// Which rows of a reference are visible at some point, and their hash.
struct ShownRows {
  std::vector<bool> is_shown;  ///< For each.
  std::size_t count = 0;
  RowSetHash hash;
  bool is_final = false;  ///< Nothing that is still to come can change any of them.
};

class ReferenceGraph;

/// What a job must show: the exactly-once reference (PROTOCOL 8).
///
/// Interprets the validated job itself, and shares no code with the processor: another reader of
/// JSON, its own evaluation of conditions, windows and folds, exact arithmetic of another kind.
class Reference {
 public:
  /// Of the table of the job's results.
  /// Throws UsageError: the input has a bad record, and the job does not say to skip it. Such a job
  /// fails, and there is nothing to compare.
  Reference(const JobSpec& spec, const Input& input);

  /// Of each table that the job writes, as `tables_of` lists them.
  static std::vector<Reference> of_tables(const JobSpec& spec, const Input& input);

  /// Of rows that are known from elsewhere. Which of them are visible when is not known then.
  Reference(const TableSchema& schema, std::vector<OwnedRow> rows);

  /// A row, and when it becomes visible: as soon as everything up to `last_instant` has come; or,
  /// if it has causes, as soon as `needed` of these have been read.
  struct ExpectedRow {
    OwnedRow cells;
    std::int64_t last_instant = 0;
    /// Whether its value is certain: every record of its window must be counted, whatever the
    /// interleaving. False: one came so late that it may or may not be.
    bool is_certain = true;
    std::shared_ptr<const std::vector<ReadPoint>> causes = nullptr;
    std::size_t needed = 0;
  };
  /// Those without causes first, by `last_instant`.
  const std::vector<ExpectedRow>& rows() const { return rows_; }
  const std::vector<std::string>& columns() const { return columns_; }
  /// Numbers of the columns by which rows are told apart: the sink's key, or all.
  const std::vector<std::size_t>& key_columns() const { return key_columns_; }
  /// Whether every row is certain, so that states can be compared by hash.
  bool is_exact() const { return is_exact_; }

  /// Rows that agree in some columns, as all results of one window do, and of which interleavings
  /// make others: how many there are, and what they hold, is not certain.
  struct Family {
    std::size_t most = 1;
    bool is_there = false;            ///< There is one at least, when the expected ones are due.
    bool is_due_any_time = false;     ///< Whether there may be some before.
    std::set<OwnedRow> members = {};  ///< If there are any: each is one of these.
    bool is_anything = false;         ///< Nothing is known of them.
    /// What the newest of them holds in the end, the one with the largest `pane`, if there is such
    /// a column: one of these, whatever number it has. Nothing: that is not certain.
    std::vector<OwnedRow> last = {};
  };
  struct Families {
    std::vector<std::size_t> columns;
    std::optional<std::size_t> pane_column;
    std::map<OwnedRow, Family> open;  ///< All others are certain.

    /// The family that a row is of.
    OwnedRow of(const OwnedRow& row) const;
  };
  const Families& families() const { return families_; }

  /// How many there are in all of the job's sources.
  std::uint64_t records() const { return records_; }
  /// How many rows come to the window of the table, or to the table itself.
  std::uint64_t kept_records() const { return kept_records_; }
  /// How many rows the steps of the job may drop as late, all together: what may not must be
  /// counted, whatever the interleaving. The largest number: nobody knows.
  std::uint64_t may_be_late() const { return may_be_late_; }
  /// The column that counts the records of a row, if there is one, and each is counted in one row.
  std::optional<std::size_t> count_column() const { return count_column_; }

  /// Whether it is known which rows are visible when: else only that none are but these, and that
  /// all are at the end.
  bool knows_progress() const { return knows_progress_; }
  /// Whether rows of one key and partition stand in its order.
  bool is_ordered() const { return is_ordered_; }
  /// The rows that are visible when the partitions have been read so far: R(c).
  ShownRows shown_at(const std::vector<Claim>& claims) const;
  /// How many they are.
  std::size_t visible_rows(const std::vector<Claim>& claims) const {
    return shown_at(claims).count;
  }
  ShownRows first_rows(std::size_t count) const;
  const RowSetHash& hash_of_first(std::size_t rows) const { return prefix_hashes_[rows]; }

 private:
  struct Progress {
    std::int64_t offset;     ///< Behind the record.
    std::int64_t watermark;  ///< Of the partition when it has been read.
  };

  Reference(const JobSpec& spec, const ReferenceGraph& graph, const JobTable& table);
  void take(std::vector<ExpectedRow> rows);
  void name_columns(const TableSchema& schema);
  void forget_values();
  bool counts_once(const WindowSpec& window, SinkMode mode) const;
  void find_count(const JobSpec& spec, const JobTable& table);
  bool have_ended(const std::vector<Claim>& claims) const;
  /// How many of those without causes.
  std::size_t closed_rows(const std::vector<Claim>& claims) const;

  std::vector<ExpectedRow> rows_;
  std::size_t by_watermark_ = 0;           ///< So many have no causes.
  std::vector<RowSetHash> prefix_hashes_;  ///< Of the first n rows.
  std::vector<RowSetHash> row_hashes_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> key_columns_;
  Families families_;
  std::uint64_t records_ = 0;
  std::uint64_t kept_records_ = 0;
  std::uint64_t may_be_late_ = 0;
  std::map<std::string, std::vector<Progress>> progress_;  ///< Per partition, record by record.
  bool is_exact_ = true;
  bool knows_progress_ = true;
  bool is_ordered_ = true;
  std::optional<std::size_t> count_column_;
};

}  // namespace millrace::properties
