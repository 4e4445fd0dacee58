#include "millrace/sqlite/sqlite_tables.hpp"

#include <utility>

#include "millrace/sqlite/sqlite_table.hpp"

namespace millrace {

SqliteTables::SqliteTables(std::string prefix, std::string vfs, std::function<void()> on_commit)
    : prefix_(std::move(prefix)), vfs_(std::move(vfs)), on_commit_(std::move(on_commit)) {}

std::unique_ptr<SinkTable> SqliteTables::open(const std::string& database,
                                              const TableSchema& schema) {
  return std::make_unique<SqliteTable>(prefix_ + database, vfs_, schema, on_commit_);
}

}  // namespace millrace
