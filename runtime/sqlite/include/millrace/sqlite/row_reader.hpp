#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/env/cells.hpp"
#include "millrace/env/sink_table.hpp"

namespace millrace {

/// Reads rows on their way into a table, and checks that they are rows of just this table: every
/// cell of its column's type, NULL only where it may be, a REAL never NaN, which SQL does not know.
/// The sign of a zero is dropped, as SQLite does.
class RowReader {
 public:
  explicit RowReader(const TableSchema& schema);

  /// Begins to read `block`, which holds rows of `batch` and must stay until it is read.
  void open(CheckpointId batch, std::span<const std::byte> block);

  /// The next row, good until the next call; empty at the end of the block.
  ///
  /// Throws CorruptObject naming batch, row and column: the bytes are not whole rows of this table.
  std::span<const Cell> next();

 private:
  struct Column {
    std::string name;
    std::size_t kind;  ///< The alternative of Cell that it holds.
    bool nullable;
  };
  void read_row();

  std::string table_;
  std::vector<Column> columns_;
  CheckpointId batch_;
  CellReader cells_{{}};
  std::uint64_t row_ = 0;
  std::vector<Cell> found_;
};

}  // namespace millrace
