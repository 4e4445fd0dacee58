#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/env/sink_table.hpp"
#include "millrace/sqlite/database.hpp"

namespace millrace {

/// Puts rows into a sink's table, as its mode has it: one prepared statement, nothing copied on the
/// way.
class RowInserter {
 public:
  RowInserter(Database& database, const TableSchema& schema);

  /// Inserts the rows of `block`, which belong to `batch`. Expects a transaction.
  ///
  /// Throws CorruptObject naming batch, row and column: the bytes are not whole rows of this
  /// table. Some of them may have been inserted, so the transaction must not be committed.
  void insert(CheckpointId batch, std::span<const std::byte> block);

 private:
  struct Column {
    std::string name;
    std::size_t kind;  ///< The alternative of Cell that it holds.
    bool nullable;
  };
  /// Throws CorruptObject.
  void insert_row(CellReader& cells);

  std::string table_;
  std::vector<Column> columns_;
  Statement statement_;
};

}  // namespace millrace
