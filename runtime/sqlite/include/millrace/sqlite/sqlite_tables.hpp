#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/env/sink_table.hpp"

namespace millrace {

/// Opens sinks' tables in SQLite databases.
class SqliteTables final : public SinkTables {
 public:
  /// `prefix` is put in front of every database's path as it is, so a directory ends with `/`.
  /// `vfs` is the name of the virtual file system that SQLite finds them in; empty for its own.
  /// `on_commit` as in SqliteTable.
  explicit SqliteTables(std::string prefix = "", std::string vfs = "",
                        std::function<void()> on_commit = nullptr);

  /// Touches nothing yet; each table opens a connection of its own with its first call.
  std::unique_ptr<SinkTable> open(const std::string& database, const TableSchema& schema) override;

 private:
  std::string prefix_;
  std::string vfs_;
  std::function<void()> on_commit_;
};

}  // namespace millrace
