#include "millrace/sqlite/sqlite_table.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/fence_decision.hpp"
#include "millrace/sqlite/publish_decision.hpp"
#include "millrace/sqlite/table_rules.hpp"

#include "marker_table.hpp"
#include "quoted.hpp"
#include "row_inserter.hpp"
#include "table_layout.hpp"

namespace millrace {
namespace {

/// How long the write-ahead log may grow before it is copied into the database. SQLite's own
/// measure, a thousand pages: long enough that small publishes share the two syncs of a copy, short
/// enough that a restart, which reads the log whole, takes milliseconds.
constexpr std::uint64_t long_log_bytes = 4 << 20;

bool has_rows(Database& database, const std::string& table) {
  Statement row(database, fmt::format("SELECT 1 FROM {} LIMIT 1", quoted(table)));
  return row.step();
}

}  // namespace

struct SqliteTable::Connection {
  explicit Connection(const std::string& path, const std::string& vfs)
      : database(path, vfs, Database::Access::write), markers(database) {}

  Database database;
  MarkerTable markers;
  std::optional<RowInserter> inserter;  ///< From the first row on; needs the table.
  bool durable = false;
};

SqliteTable::SqliteTable(std::string path, std::string vfs, TableSchema schema,
                         std::function<void()> on_commit)
    : path_(std::move(path)),
      vfs_(std::move(vfs)),
      schema_(std::move(schema)),
      on_commit_(std::move(on_commit)) {}

SqliteTable::~SqliteTable() = default;

SqliteTable::Connection& SqliteTable::connect() {
  if (!connection_) {
    expect_usable_names(schema_, path_);
    connection_ = std::make_unique<Connection>(path_, vfs_);
    connection_->database.on_commit(on_commit_);
  }
  return *connection_;
}

SqliteTable::Connection& SqliteTable::connect_durably() {
  Connection& connection = connect();
  if (!connection.durable) {
    connection.database.make_durable();
    connection.durable = true;
  }
  return connection;
}

void SqliteTable::ensure(Instant) {
  // Looked at before the journal mode is changed: a database that is refused stays as it was.
  const auto seen = connect().database.version_of_others();
  expect_same_layout(connect().database, schema_);

  Database& database = connect_durably().database;
  Transaction transaction(database, Transaction::Kind::write);
  // Somebody may have been faster.
  if (database.version_of_others() != seen) expect_same_layout(database, schema_);
  create_missing(database, schema_);
  transaction.commit_or_throw();
}

Fenced SqliteTable::fence(const FenceRequest& request, Instant) {
  Connection& connection = connect_durably();
  Transaction transaction(connection.database, Transaction::Kind::write);
  FenceFacts found{request, connection.markers.read(schema_.table), false};
  if (!found.marker) found.has_rows = has_rows(connection.database, schema_.table);

  const Fenced fenced = decide_fence(found);
  // Written even if it stays as it was. The marker that was read may lie in the log without being
  // durable, left by a process that died before its sync; the commit of a write syncs all of it.
  if (fenced.marker) connection.markers.put(schema_.table, *fenced.marker);
  transaction.commit_or_throw();
  return fenced;
}

PublishOutcome SqliteTable::publish(Lineage lineage, Term term, CheckpointId id,
                                    StagedBatches& batches, Instant) {
  invariant(id.term <= term, "nobody publishes a checkpoint of a later term than its own");
  Connection& connection = connect_durably();
  Transaction transaction(connection.database, Transaction::Kind::write);
  const auto found = connection.markers.read(schema_.table);
  const PublishDecision decision = decide_publish(found, lineage, term, id);
  if (decision == PublishDecision::refuse) return PublishOutcome::fenced;

  Marker marker = *found;
  if (decision == PublishDecision::insert) {
    insert_above(marker.published, id, batches);
    marker.published = id;
  }
  // Written also by a repetition: the rows that it finds may be of a commit whose sync failed.
  connection.markers.put(schema_.table, marker);
  return commit(transaction);
}

PublishOutcome SqliteTable::write(Lineage lineage, Term term, std::span<const std::byte> cells,
                                  Instant) {
  invariant(schema_.mode != SinkMode::staged, "rows of a staged sink become visible by a publish");
  Connection& connection = connect_durably();
  Transaction transaction(connection.database, Transaction::Kind::write);
  if (!may_write(connection.markers.read(schema_.table), lineage, term)) {
    return PublishOutcome::fenced;
  }
  inserter().insert({term, 0}, cells);
  return commit(transaction);
}

PublishOutcome SqliteTable::commit(Transaction& transaction) {
  if (transaction.commit() == CommitOutcome::unknown) return PublishOutcome::unknown;
  // The rows are there whatever becomes of this. After a failure the next one tries again.
  Database& database = connection_->database;
  if (database.wal_bytes() > long_log_bytes) database.checkpoint();
  return PublishOutcome::published;
}

RowInserter& SqliteTable::inserter() {
  if (!connection_->inserter) connection_->inserter.emplace(connection_->database, schema_);
  return *connection_->inserter;
}

void SqliteTable::insert_above(CheckpointId marker, CheckpointId id, StagedBatches& batches) {
  while (const auto batch = batches.next_batch()) {
    invariant(*batch <= id, "a publish holds no batch of a later checkpoint");
    if (*batch <= marker) continue;
    for (auto block = batches.next_block(); !block.empty(); block = batches.next_block()) {
      inserter().insert(*batch, block);
    }
  }
}

}  // namespace millrace
