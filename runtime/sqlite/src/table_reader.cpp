#include "millrace/sqlite/table_reader.hpp"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/database.hpp"

#include "marker_table.hpp"
#include "quoted.hpp"

namespace millrace {
namespace {

/// A statement that is kept lets go of the database's state also when a visitor throws.
struct ResetAtEnd {
  Statement& statement;
  explicit ResetAtEnd(Statement& kept) : statement(kept) {}
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;
  ~ResetAtEnd() { statement.reset(); }
};

bool has_column(Database& database, const std::string& table, std::string_view column) {
  Statement rows(database, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE");
  rows.bind(1, table);
  rows.bind(2, column);
  return rows.step();
}

/// A name for the rowid that no column has taken.
std::string_view rowid_name(Database& database, const std::string& table) {
  constexpr std::array<std::string_view, 3> names{"rowid", "oid", "_rowid_"};
  for (const std::string_view name : names) {
    if (!has_column(database, table, name)) return name;
  }
  throw UsageError(fmt::format(
      "table `{}` in database `{}` has columns `rowid`, `oid` and `_rowid_`; expected one of these "
      "names to be left for SQLite's own",
      table, database.path()));
}

std::string selection(Database& database, const std::string& table) {
  return fmt::format("SELECT {0}, * FROM {1} WHERE {0} > ?1 ORDER BY {0}",
                     rowid_name(database, table), quoted(table));
}

}  // namespace

struct TableReader::Connection {
  Connection(const std::string& path, const std::string& vfs)
      : database(path, vfs, Database::Access::read),
        tables(database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1"),
        markers(database) {}

  bool has_table(std::string_view name) {
    const ResetAtEnd reset(tables);
    tables.bind(1, name);
    return tables.step();
  }

  Database database;
  Statement tables;
  MarkerTable markers;
  std::optional<Statement> rows;
};

TableReader::TableReader(std::string path, std::string vfs, std::string table)
    : path_(std::move(path)), vfs_(std::move(vfs)), table_(std::move(table)) {}

TableReader::~TableReader() = default;

TableLook TableReader::look(const TableVisit& visit, std::int64_t above) {
  TableLook look;
  look.last_rowid = above;
  look.outcome = TableLook::Outcome::absent;
  if (!connection_ && !database_exists(path_, vfs_)) return look;

  std::optional<Transaction> transaction;
  bool has_markers = false;
  try {
    if (!connection_) connection_ = std::make_unique<Connection>(path_, vfs_);
    transaction.emplace(connection_->database, Transaction::Kind::read);
    // The first read fixes the state that all later ones see, and is the only one that can find
    // somebody in the way.
    has_markers = connection_->has_table(MarkerTable::name);
  } catch (const Unavailable&) {
    look.outcome = TableLook::Outcome::busy;
    return look;
  }

  if (has_markers) look.marker = connection_->markers.read(table_);
  if (!connection_->has_table(table_)) return look;
  if (!connection_->rows) {
    connection_->rows.emplace(connection_->database, selection(connection_->database, table_));
  }
  Statement& rows = *connection_->rows;
  const ResetAtEnd reset(rows);
  rows.bind(1, above);
  std::vector<Cell> cells;
  while (rows.step()) {
    cells.clear();
    for (int column = 1; column < rows.columns(); ++column) cells.push_back(rows.column(column));
    look.last_rowid = std::get<std::int64_t>(rows.column(0));
    ++look.rows;
    visit(look.last_rowid, cells);
  }
  look.outcome = TableLook::Outcome::seen;
  return look;
}

}  // namespace millrace
