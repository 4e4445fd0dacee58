#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "millrace/env/cells.hpp"
#include "millrace/env/sink_table.hpp"

namespace millrace {

/// What a look at a sink's table found.
struct TableLook {
  enum class Outcome : std::uint8_t {
    seen,    ///< All rows that were asked for were visited.
    absent,  ///< There is no such table, or no database. There may be a marker.
    busy,    ///< Nobody is let in now, or a crash left work that only a writer can do. Look again.
  };
  Outcome outcome = Outcome::seen;
  std::optional<Marker> marker;
  std::uint64_t rows = 0;       ///< Visited.
  std::int64_t last_rowid = 0;  ///< Of the last visited row, or what was asked to start above.
};

/// Looks at a sink's table as any other program would: what judges and the tool use.
///
/// Never changes the database and creates none. Like every reader of a database with a write-ahead
/// log it may have SQLite make the two files beside it that belong to the log.
///
/// The connection is kept from the first look that finds a database. A file that is put in its
/// place is not noticed; that wants a new reader.
class TableReader {
 public:
  /// Cells in the order of the table's columns; texts are good only during the call.
  using Visit = std::function<void(std::int64_t rowid, std::span<const Cell> cells)>;

  /// `vfs` as in SqliteTable.
  TableReader(std::string path, std::string vfs, std::string table);
  ~TableReader();

  /// Reads the marker and visits the rows with a rowid above `above`, in the order of their rowids,
  /// which is the order of their insertion. All of it is one state of the database.
  ///
  /// Throws what Database throws; UsageError also if all three names of the rowid are columns'.
  TableLook look(const Visit& visit, std::int64_t above = std::numeric_limits<std::int64_t>::min());

 private:
  struct Connection;

  std::string path_;
  std::string vfs_;
  std::string table_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace millrace
