#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "millrace/env/table_look.hpp"

namespace millrace {

/// Looks at a sink's table as any other program would: what judges and the tool use.
///
/// Never changes the database and creates none. Like every reader of a database with a write-ahead
/// log it may have SQLite make the two files beside it that belong to the log.
///
/// The connection is kept from the first look that finds a database. A file that is put in its
/// place is not noticed; that wants a new reader.
class TableReader {
 public:
  /// `vfs` as in SqliteTable.
  TableReader(std::string path, std::string vfs, std::string table);
  ~TableReader();

  /// Reads the marker and visits the rows with a rowid above `above`, in the order of their rowids,
  /// which is the order of their insertion. All of it is one state of the database.
  ///
  /// Throws what Database throws; UsageError also if all three names of the rowid are columns'.
  TableLook look(const TableVisit& visit,
                 std::int64_t above = std::numeric_limits<std::int64_t>::min());

 private:
  struct Connection;

  std::string path_;
  std::string vfs_;
  std::string table_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace millrace
