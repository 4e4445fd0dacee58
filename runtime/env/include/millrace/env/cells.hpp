#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "millrace/env/bytes.hpp"

namespace millrace {

/// A value of a table: SQL's NULL, INTEGER, REAL and TEXT. The text is borrowed.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

/// Rows of a table on their way to it: cell after cell, each with a byte that tells its type.
///
/// The same bytes are staged in the checkpoint store, sent to a database server and read back by
/// the judges, so they are a format (CELLS.md). Rows have no frame of their own: both ends know how
/// many columns there are.
class CellWriter {
 public:
  void null();
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  void cell(const Cell& value);
  void end_row() { ++rows_; }

  std::uint64_t rows() const { return rows_; }
  std::size_t size() const { return out_.size(); }
  std::span<const std::byte> view() const { return out_.view(); }
  /// The bytes so far; the writer is empty afterwards.
  Bytes take();

 private:
  Encoder out_;
  std::uint64_t rows_ = 0;
};

/// Reads cells in the order in which they were written.
class CellReader {
 public:
  explicit CellReader(std::span<const std::byte> bytes) : in_(bytes) {}
  bool at_end() const { return in_.left() == 0; }
  /// Throws CorruptBytes. A text is good as long as the bytes are.
  Cell next();

 private:
  Decoder in_;
};

}  // namespace millrace
