#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/env/env.hpp"
#include "millrace/sim/memory_database.hpp"

namespace millrace::sim {

/// A sink's table in a MemoryDatabase, as a task of the database's node uses it.
///
/// A call writes to a log on the node's disk, of which nothing is ever read; then it happens, all
/// at once and for good; then it syncs the log. So all that a disk can do to a commit happens to
/// this one too, but for leaving half of it: after an error of the world, or a death of the node,
/// it has taken place or not.
class MemoryTable final : public SinkTable {
 public:
  MemoryTable(Env& env, MemoryDatabase& database, TableSchema schema,
              std::function<void()> on_commit);

  void ensure(Instant deadline) override;
  Fenced fence(const FenceRequest& request, Instant deadline) override;
  PublishOutcome publish(Lineage lineage, Term term, CheckpointId id, StagedBatches& batches,
                         Instant deadline) override;
  PublishOutcome write(Lineage lineage, Term term, std::span<const std::byte> cells,
                       Instant deadline) override;

 private:
  void begin();
  void end(bool has_changed);

  Env& env_;
  MemoryDatabase& database_;
  TableSchema schema_;
  std::function<void()> on_commit_;
  std::unique_ptr<File> log_;  ///< From the first call on.
};

/// Opens tables in the one database that there is, whatever it is called.
class MemoryTables final : public SinkTables {
 public:
  MemoryTables(Env& env, MemoryDatabase& database, std::function<void()> on_commit)
      : env_(env), database_(database), on_commit_(std::move(on_commit)) {}
  std::unique_ptr<SinkTable> open(const std::string& database, const TableSchema& schema) override;

 private:
  Env& env_;
  MemoryDatabase& database_;
  std::function<void()> on_commit_;
};

}  // namespace millrace::sim
