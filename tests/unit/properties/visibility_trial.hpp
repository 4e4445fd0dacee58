#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/properties/visibility.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_table.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "small_job.hpp"
#include "temporary_directory.hpp"

namespace millrace::properties {

/// A visibility judge before a real table that a test fills as it likes.
///
/// Unless told otherwise the job counts records per key and second, and the input is of five
/// records with five rows: a and b in the first second, then a, b and a in the next ones.
class VisibilityTrial {
 public:
  explicit VisibilityTrial(const SmallJob& job = {});
  VisibilityTrial(const SmallJob& job, const std::vector<std::string>& lines);

  // What happens to the table, by SQL and with no law in the way.

  /// The table and the marker's table are made, and there is a marker at 0.0.
  void fence();
  /// The first `rows` rows of the reference are there, and no others.
  void show_rows(std::size_t rows);
  /// One row more: `'a', 0, 1000, 1`.
  void add_row(const std::string& values);
  void set_marker(CheckpointId id);
  void execute(const std::string& sql);

  // What happens in the run.

  /// A manifest says that so many lines were read.
  void claim(CheckpointId id, int lines_read, bool ended = false);
  void decide(CheckpointId id) { decided_ = id; }
  /// All of it as it should be: claimed, decided, shown.
  void publish(CheckpointId id, int lines_read, bool ended = false);
  /// The database does not answer the reader from now on.
  void break_connection() { is_broken_ = true; }
  void mend_connection() { is_broken_ = false; }

  /// `visibility: a reader saw ...`, or "".
  std::string breach() const;
  /// What is said after one more look.
  std::string breach_after_look();

  const std::string& path() const { return path_; }
  const Reference& reference() const { return reference_; }
  VisibilityJudge& judge() { return judge_; }

 private:
  TableLook look(const TableVisit& visit);
  std::vector<Claim> claims(int lines_read, bool ended) const;

  JobSpec spec_;
  Input input_;
  Reference reference_;
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "small.db";
  std::optional<TableReader> reader_;
  std::optional<CheckpointId> decided_;
  bool is_broken_ = false;
  VisibilityJudge judge_{reference_, spec_.sinks[0].mode,
                         [this](const TableVisit& visit) { return look(visit); },
                         [this] { return decided_; }};
};

}  // namespace millrace::properties
