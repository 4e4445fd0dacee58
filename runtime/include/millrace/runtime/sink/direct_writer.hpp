#pragma once

#include <memory>
#include <string>

#include "millrace/env/cells.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/flow/stage.hpp"

namespace millrace {

/// What a writer of an upsert or insert sink does (PROTOCOL 4): rows go into the table at once, in
/// transactions of up to 1,024. Nothing of them is state: after a recovery the rows since the
/// restored checkpoint are written again.
///
/// A write whose outcome is unknown ends the task: only the fence of a takeover settles it.
class DirectWriter {
 public:
  DirectWriter(const StageContext& context, const std::string& database, const TableSchema& schema);

  /// For the cells of the next row.
  CellWriter& cells() { return cells_; }
  /// A row is complete. Throws as `write`.
  void end_row() {
    cells_.end_row();
    if (cells_.rows() == most_rows) [[unlikely]]
      write();
  }

  /// Everything so far is visible and durable when this returns. Throws JobFailed; WorldError: the
  /// rows may be visible or not, or a later term has fenced the sink.
  void write();

 private:
  static constexpr std::uint64_t most_rows = 1024;

  Env env_;
  Subtask at_;
  Lineage lineage_;
  Term term_;
  std::string place_;  ///< For messages.
  std::unique_ptr<SinkTable> table_;
  CellWriter cells_;
};

}  // namespace millrace
