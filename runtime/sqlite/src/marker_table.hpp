#pragma once

#include <optional>
#include <string>

#include "millrace/env/sink_table.hpp"
#include "millrace/sqlite/database.hpp"

namespace millrace {

/// The table of markers, one row per sink, named by the sink's table (MARKER.md).
class MarkerTable {
 public:
  static constexpr std::string_view name = "millrace_sinks";

  /// The statement that makes it, in a database that has none.
  static std::string creation();

  explicit MarkerTable(Database& database) : database_(database) {}

  /// The marker of `sink`, or nothing. The table must be there.
  /// Throws CorruptObject: somebody wrote into the row what is no marker.
  std::optional<Marker> read(const std::string& sink);

  /// Writes the marker of `sink` as a new row in place of the old one.
  ///
  /// So it writes even if nothing changes. An UPDATE would not: SQLite compares a row with what it
  /// is overwritten by, leaves the page alone if they are equal, and then the commit syncs nothing.
  void put(const std::string& sink, const Marker& marker);

 private:
  Database& database_;
  std::optional<Statement> read_;
  std::optional<Statement> put_;
};

}  // namespace millrace
