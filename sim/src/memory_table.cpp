#include "memory_table.hpp"

#include <array>
#include <utility>

namespace millrace::sim {
namespace {

constexpr const char* log_path = "memory.log";

}  // namespace

MemoryTable::MemoryTable(Env& env, MemoryDatabase& database, TableSchema schema,
                         std::function<void()> on_commit)
    : env_(env),
      database_(database),
      schema_(std::move(schema)),
      on_commit_(std::move(on_commit)) {}

void MemoryTable::begin() {
  if (!log_) log_ = env_.disk.open(log_path, Disk::Open::create);
  log_->write_at(log_->size_bytes(), std::array<std::byte, 1>{});
}

void MemoryTable::end(bool has_changed) {
  if (has_changed && on_commit_) on_commit_();
  log_->sync();
}

void MemoryTable::ensure(Instant) {
  begin();
  end(database_.ensure(schema_));
}

Fenced MemoryTable::fence(const FenceRequest& request, Instant) {
  begin();
  const Fenced fenced = database_.fence(schema_, request);
  end(fenced.outcome == FenceOutcome::fenced);
  return fenced;
}

PublishOutcome MemoryTable::publish(Lineage lineage, Term term, CheckpointId id,
                                    StagedBatches& batches, Instant) {
  begin();
  const PublishOutcome outcome = database_.publish(schema_, lineage, term, id, batches);
  end(outcome == PublishOutcome::published);
  return outcome;
}

PublishOutcome MemoryTable::write(Lineage lineage, Term term, std::span<const std::byte> cells,
                                  Instant) {
  begin();
  const PublishOutcome outcome = database_.write(schema_, lineage, term, cells);
  end(outcome == PublishOutcome::published);
  return outcome;
}

std::unique_ptr<SinkTable> MemoryTables::open(const std::string&, const TableSchema& schema) {
  return std::make_unique<MemoryTable>(env_, database_, schema, on_commit_);
}

}  // namespace millrace::sim
