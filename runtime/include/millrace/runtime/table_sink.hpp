#pragma once

#include <memory>
#include <string>
#include <utility>

#include "millrace/env/cells.hpp"
#include "millrace/runtime/sink.hpp"
#include "millrace/runtime/sink/direct_writer.hpp"
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
  void set_idle(bool) override {}
  void link(Way, Stage&) override {}
  void save(Snapshot& snapshot) override { staging_.save(snapshot); }
  void published(CheckpointId id) override { staging_.published(id); }

 private:
  Staging staging_;
  Write write_;
};

/// Writes one subtask's rows into the table itself, at once.
template <class T, class Write>
class DirectStage final : public Consumer<T> {
 public:
  DirectStage(const StageContext& context, const std::string& database, const TableSchema& schema,
              Write write)
      : writer_(context, database, schema), write_(std::move(write)) {}

  void take(Batch<T>& rows) override {
    for (const Record<T>& row : rows) {
      write_(row.value, writer_.cells());
      writer_.end_row();
    }
  }
  void watermark(EventTime) override {}
  void flush() override { writer_.write(); }
  void set_idle(bool) override {}
  void link(Way, Stage&) override {}
  /// A checkpoint may be decided only when all rows before it are durable.
  void save(Snapshot&) override { writer_.write(); }

 private:
  DirectWriter writer_;
  Write write_;
};

namespace table_sink_detail {

template <class T, class Write>
Sink<T> direct_table(const char* kind, const std::string& database, const TableSchema& schema,
                     SinkMode mode, Write write) {
  Sink<T> sink;
  sink.kind = kind;
  sink.database = database;
  sink.schema = schema;
  sink.schema.mode = mode;
  sink.open = [database, schema = sink.schema, write](const StageContext& context,
                                                      const std::string&) {
    return std::make_unique<DirectStage<T, Write>>(context, database, schema, write);
  };
  return sink;
}

}  // namespace table_sink_detail

/// A table in which a row replaces the one with its key (PROTOCOL 4.2). Rows are visible at once,
/// before their checkpoint is decided; a replay writes them again, to no effect if the pipeline is
/// deterministic. The key must tell all rows apart, and no column of it may be null.
template <class T, class Write>
Sink<T> upsert_table(const std::string& database, const TableSchema& schema, Write write) {
  return table_sink_detail::direct_table<T>("upsert table", database, schema, SinkMode::upsert,
                                            std::move(write));
}

/// A table to which rows are added at once (PROTOCOL 4.3): at least once. After a recovery those
/// since the restored checkpoint are there twice.
template <class T, class Write>
Sink<T> insert_table(const std::string& database, const TableSchema& schema, Write write) {
  return table_sink_detail::direct_table<T>("insert table", database, schema, SinkMode::insert,
                                            std::move(write));
}

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
