#include "millrace/sim/memory_database.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/sqlite/fence_decision.hpp"
#include "millrace/sqlite/publish_decision.hpp"
#include "millrace/sqlite/row_reader.hpp"
#include "millrace/sqlite/table_rules.hpp"

namespace millrace::sim {
namespace {

constexpr const char* database_name = "memory";

[[noreturn]] void refuse(const TableSchema& schema, const std::string& why) {
  throw UsageError(
      fmt::format("table `{}` in database `{}`: {}", schema.table, database_name, why));
}

[[noreturn]] void fail_unique(const TableSchema& schema) {
  std::string columns;
  for (const std::string& name : schema.key) {
    columns += fmt::format("{}{}.{}", columns.empty() ? "" : ", ", schema.table, name);
  }
  throw JobFailed(
      fmt::format("database `{}`: UNIQUE constraint failed: {}", database_name, columns));
}

}  // namespace

/// Reads all rows of a transaction before any of them is applied, so that what is wrong with one of
/// them is found while nothing is changed.
class MemoryDatabase::Reading {
 public:
  Reading(const Table& table, const TableSchema& schema) : reader_(schema) {
    if (!has_unique_key(table.schema)) return;
    for (const std::string& name : table.schema.key) {
      const auto& columns = schema.columns;
      const auto found = std::ranges::find(columns, name, &TableSchema::Column::name);
      key_.push_back(static_cast<std::size_t>(found - columns.begin()));
    }
  }

  void add(CheckpointId batch, std::span<const std::byte> block) {
    reader_.open(batch, block);
    for (auto row = reader_.next(); !row.empty(); row = reader_.next()) {
      for (const Cell& cell : row) writer_.cell(cell);
      rows_.push_back({writer_.take(), key_in(row)});
    }
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::optional<std::string> key_in(std::span<const Cell> row) {
    const auto is_null = [&row](std::size_t column) { return row[column].index() == 0; };
    if (key_.empty() || std::ranges::any_of(key_, is_null)) return std::nullopt;
    for (const std::size_t column : key_) writer_.cell(row[column]);
    return std::string(as_text(writer_.take()));
  }

  RowReader reader_;
  std::vector<std::size_t> key_;  ///< Numbers of the columns of a key that is unique.
  CellWriter writer_;
  std::vector<Row> rows_;
};

bool MemoryDatabase::ensure(const TableSchema& schema) {
  expect_usable_names(schema, database_name);
  for (const auto& [name, table] : tables_) {
    if (upper_name(name) == upper_name(schema.table)) expect_alike(table, schema);
  }
  const auto [at, is_new] = tables_.try_emplace(schema.table);
  if (is_new) at->second.schema = schema;
  return is_new;
}

void MemoryDatabase::expect_alike(const Table& table, const TableSchema& schema) {
  const TableSchema& found = table.schema;
  if (found.table != schema.table) {
    refuse(schema, fmt::format("it is spelt `{}`; expected `{}`", found.table, schema.table));
  }
  if (const auto why = column_difference(column_texts(found), column_texts(schema))) {
    refuse(schema, *why);
  }
  if (index_text(found) != index_text(schema)) {
    refuse(schema,
           fmt::format("its key is {}; expected {}", index_text(found), index_text(schema)));
  }
}

MemoryDatabase::Table& MemoryDatabase::table_of(const TableSchema& schema) {
  const auto found = tables_.find(schema.table);
  if (found == tables_.end()) {
    throw IoError(fmt::format("database `{}`: no such table: {}", database_name, schema.table));
  }
  return found->second;
}

Fenced MemoryDatabase::fence(const TableSchema& schema, const FenceRequest& request) {
  Table& table = table_of(schema);
  const Fenced fenced = decide_fence({request, table.marker, !table.rows.empty()});
  if (fenced.outcome == FenceOutcome::fenced) table.marker = fenced.marker;
  return fenced;
}

PublishOutcome MemoryDatabase::publish(const TableSchema& schema, Lineage lineage, Term term,
                                       CheckpointId id, StagedBatches& batches) {
  invariant(id.term <= term, "nobody publishes a checkpoint of a later term than its own");
  Table& table = table_of(schema);
  switch (decide_publish(table.marker, lineage, term, id)) {
    case PublishDecision::refuse: return PublishOutcome::fenced;
    case PublishDecision::repeat: return PublishOutcome::published;
    case PublishDecision::insert: break;
  }
  Reading reading(table, schema);
  while (const auto batch = batches.next_batch()) {
    invariant(*batch <= id, "a publish holds no batch of a later checkpoint");
    if (*batch <= table.marker->published) continue;
    for (auto block = batches.next_block(); !block.empty(); block = batches.next_block()) {
      reading.add(*batch, block);
    }
  }
  put(table, schema.mode, reading.take());
  table.marker->published = id;
  return PublishOutcome::published;
}

PublishOutcome MemoryDatabase::write(const TableSchema& schema, Lineage lineage, Term term,
                                     std::span<const std::byte> cells) {
  invariant(schema.mode != SinkMode::staged, "rows of a staged sink become visible by a publish");
  Table& table = table_of(schema);
  if (!may_write(table.marker, lineage, term)) return PublishOutcome::fenced;
  Reading reading(table, schema);
  reading.add({term, 0}, cells);
  put(table, schema.mode, reading.take());
  return PublishOutcome::published;
}

void MemoryDatabase::expect_unique(const Table& table, const std::vector<Row>& added) {
  std::set<std::string_view> fresh;
  for (const Row& row : added) {
    if (!row.key) continue;
    if (table.by_key.contains(*row.key) || !fresh.insert(*row.key).second) {
      fail_unique(table.schema);
    }
  }
}

void MemoryDatabase::put(Table& table, SinkMode mode, std::vector<Row> added) {
  if (mode != SinkMode::upsert) expect_unique(table, added);
  for (Row& row : added) {
    if (row.key) {
      const auto [at, is_new] = table.by_key.try_emplace(*row.key, table.rows.size());
      if (!is_new) {
        table.rows[at->second] = std::move(row);
        continue;
      }
    }
    table.rows.push_back(std::move(row));
  }
}

TableLook MemoryDatabase::look(std::string_view name, const TableVisit& visit) const {
  TableLook look;
  const auto found = tables_.find(name);
  if (found == tables_.end()) {
    look.outcome = TableLook::Outcome::absent;
    return look;
  }
  const Table& table = found->second;
  look.marker = table.marker;
  std::vector<Cell> cells;
  for (const Row& row : table.rows) {
    cells.clear();
    for (CellReader reader(row.cells); !reader.at_end();) cells.push_back(reader.next());
    ++look.rows;
    visit(++look.last_rowid, cells);
  }
  return look;
}

}  // namespace millrace::sim
