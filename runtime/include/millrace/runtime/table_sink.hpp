#pragma once

#include <memory>
#include <string>
#include <utility>

#include "millrace/env/cells.hpp"
#include "millrace/runtime/sink.hpp"
#include "millrace/runtime/sink/staging.hpp"

namespace millrace {

/// Writes one subtask's rows into the checkpoint store; the committer makes them visible.
template <class T, class Write>
class StagedStage final : public Consumer<T> {
 public:
  StagedStage(const StageContext& context, const std::string& name, Write write)
      : staging_(context, name), write_(std::move(write)) {}

  void take(Batch<T>& rows) override {
    for (const Record<T>& row : rows) {
      write_(row.value, staging_.cells());
      staging_.cells().end_row();
    }
  }
  void watermark(EventTime) override {}
  void flush() override {}
  void link(int, int, Stage&) override {}
  void save(Snapshot& snapshot) override { staging_.save(snapshot); }
  void published(CheckpointId id) override { staging_.published(id); }

 private:
  Staging staging_;
  Write write_;
};

/// A table in a database that shows each checkpoint's rows at once, when the checkpoint is
/// complete, and each row once: staged two-phase commit (PROTOCOL 2).
///
/// `write(row, cells)` puts a row's cells in the order of the schema's columns.
template <class T, class Write>
Sink<T> staged_table(const std::string& database, const TableSchema& schema, Write write) {
  Sink<T> sink;
  sink.kind = "staged table";
  sink.database = database;
  sink.schema = schema;
  sink.open = [write](const StageContext& context, const std::string& name) {
    return std::make_unique<StagedStage<T, Write>>(context, name, write);
  };
  return sink;
}

}  // namespace millrace
