#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/env/table_look.hpp"

namespace millrace::sim {

/// A database that lies in memory: what a simulated database server can hold instead of SQLite's
/// files, for runs that are about everything but SQLite.
///
/// Belongs to whoever owns the world, so no death of the node takes anything from it: it is like a
/// database whose every commit is durable the moment it is visible. Each call is one transaction
/// that happens at one instant, whole or, if it throws, not at all. What it does to a table and
/// says of it is what SQLite would (sink_table.hpp, MARKER.md); one name of a database is as good
/// as another.
class MemoryDatabase {
 public:
  /// Returns whether anything was missing. Throws UsageError, as SinkTable::ensure does.
  bool ensure(const TableSchema& schema);

  // The rest throws IoError where nobody has called `ensure` for a table of that name.

  Fenced fence(const TableSchema& schema, const FenceRequest& request);
  /// Pulls `batches` at this instant: they must not wait for anything.
  PublishOutcome publish(const TableSchema& schema, Lineage lineage, Term term, CheckpointId id,
                         StagedBatches& batches);
  PublishOutcome write(const TableSchema& schema, Lineage lineage, Term term,
                       std::span<const std::byte> cells);

  /// Looks at a table as any other program would.
  TableLook look(std::string_view table, const TableVisit& visit) const;

 private:
  struct Row {
    Bytes cells;                     ///< As in cells.hpp.
    std::optional<std::string> key;  ///< If the table's key is unique and no cell of it is NULL.
  };
  struct Table {
    TableSchema schema;
    std::optional<Marker> marker;
    std::vector<Row> rows;  ///< In the order of their insertion.
    std::map<std::string, std::size_t, std::less<>> by_key;
  };
  class Reading;

  Table& table_of(const TableSchema& schema);
  static void expect_alike(const Table& table, const TableSchema& schema);
  static void expect_unique(const Table& table, const std::vector<Row>& added);
  static void put(Table& table, SinkMode mode, std::vector<Row> added);

  std::map<std::string, Table, std::less<>> tables_;
};

}  // namespace millrace::sim
