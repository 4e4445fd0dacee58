#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/env/sink_table.hpp"

namespace millrace {

class RowInserter;
class Transaction;

/// A sink's table in an SQLite database, with its marker beside it (MARKER.md).
///
/// Opens the database with the first call that needs it, and keeps that connection. The database is
/// local, so deadlines are not looked at: a call waits for the disk as long as that takes, and for
/// other users of the database up to five seconds, after which it throws Unavailable and has
/// changed nothing.
///
/// What a call throws before its commit has changed nothing. Of a commit that fails nobody can say
/// more than that its pages may lie whole in the log without being shown: `publish` then returns
/// `unknown`, the others throw IoError. Repeating overwrites those pages, a restart reads them;
/// either way is right, because the marker is among them.
class SqliteTable final : public SinkTable {
 public:
  /// `vfs` is the name of the virtual file system that SQLite finds `path` in; empty for its own.
  /// `on_commit`, if given, is called after every commit (Database::on_commit).
  SqliteTable(std::string path, std::string vfs, TableSchema schema,
              std::function<void()> on_commit = nullptr);
  ~SqliteTable() override;

  void ensure(Instant deadline) override;
  Fenced fence(const FenceRequest& request, Instant deadline) override;
  PublishOutcome publish(Lineage lineage, Term term, CheckpointId id, StagedBatches& batches,
                         Instant deadline) override;
  PublishOutcome write(Lineage lineage, Term term, std::span<const std::byte> cells,
                       Instant deadline) override;

 private:
  struct Connection;
  Connection& connect();
  Connection& connect_durably();
  PublishOutcome commit(Transaction& transaction);
  RowInserter& inserter();
  void insert_above(CheckpointId marker, CheckpointId id, StagedBatches& batches);

  std::string path_;
  std::string vfs_;
  TableSchema schema_;
  std::function<void()> on_commit_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace millrace
