#pragma once

#include "millrace/env/sink_table.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/row_reader.hpp"

namespace millrace {

/// Puts rows into a sink's table, as its mode has it: one prepared statement, nothing copied on the
/// way.
class RowInserter {
 public:
  RowInserter(Database& database, const TableSchema& schema);

  /// Inserts the rows of `block`, which belong to `batch`. Expects a transaction.
  ///
  /// Throws CorruptObject, as RowReader does. Some of the rows may have been inserted, so the
  /// transaction must not be committed.
  void insert(CheckpointId batch, std::span<const std::byte> block);

 private:
  RowReader rows_;
  Statement statement_;
};

}  // namespace millrace
