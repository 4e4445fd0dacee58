#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/identity.hpp"
#include "millrace/env/instant.hpp"

namespace millrace {

/// How rows come into a table (PROTOCOL 2 and 4).
enum class SinkMode : std::uint8_t {
  staged,  ///< By `publish`: those of a checkpoint at once, each once.
  upsert,  ///< By `write`, at once; a row replaces the one with its key.
  insert,  ///< By `write`, at once; what is written again is there twice.
};
constexpr bool is_known(SinkMode mode) { return mode <= SinkMode::insert; }

/// A table that a sink writes to.
struct TableSchema {
  enum class Type : std::uint8_t { integer, real, text };
  struct Column {
    std::string name;
    Type type = Type::integer;
    bool nullable = false;
    friend bool operator==(const Column&, const Column&) = default;
  };
  std::string table;
  std::vector<Column> columns;
  std::vector<std::string> key;  ///< The logical key. Indexed; a constraint only if `unique_key`.
  bool unique_key = false;       ///< Always, for upsert.
  SinkMode mode = SinkMode::staged;
  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

/// What a sink remembers about the job that writes to it, one row beside the table.
struct Marker {
  Lineage lineage;
  Term fence_term;         ///< Nobody of a smaller term may write.
  CheckpointId published;  ///< The newest checkpoint whose rows are visible.
  friend bool operator==(const Marker&, const Marker&) = default;
};

/// What a takeover wants of a sink.
struct FenceRequest {
  Lineage lineage;
  Term term;
  bool from_genesis = false;  ///< The job has no past: there may be no marker yet.
  /// Take over the rows of another lineage. Its marker is replaced by one at 0.0, because what the
  /// other has published says nothing about what this one has staged.
  bool adopt = false;
};

/// What a fence found and did. Only `fenced` changed anything.
enum class FenceOutcome : std::uint8_t {
  fenced,      ///< Nobody of a smaller term can write any more.
  superseded,  ///< Somebody of the same lineage and a later term has fenced this sink.
  absent,      ///< There is no marker, and the job has a past.
  foreign,     ///< The marker is of another lineage.
  occupied,    ///< There is no marker, but the table has rows.
};
struct Fenced {
  FenceOutcome outcome = FenceOutcome::fenced;
  std::optional<Marker> marker;  ///< As it is now; durable if `fenced`.
};

/// What became of a publish. `unknown` is to be repeated, and is neither of the others.
enum class PublishOutcome : std::uint8_t {
  published,  ///< The rows are visible and durable. Also: they were before.
  fenced,     ///< A later term, or another lineage, owns the sink. Nothing was changed.
  unknown,    ///< The answer was lost.
};

/// Staged rows, batch by batch in the order of their checkpoint ids, each in blocks of whole rows
/// (cells.hpp). Pulled by `publish`.
class StagedBatches {
 public:
  virtual ~StagedBatches() = default;
  /// Goes to the next batch, leaving what is left of this one. Nothing: there is none.
  virtual std::optional<CheckpointId> next_batch() = 0;
  /// More rows of this batch; empty at its end. Good until the next call.
  virtual std::span<const std::byte> next_block() = 0;
};

/// A table in a database with its marker, on a connection of its own.
///
/// Every call is one transaction. A database on the same machine answers when it answers, and may
/// ignore deadlines. All throw Unavailable and other WorldErrors, Cancelled, Killed;
/// after one of them it is unknown whether the transaction took place.
class SinkTable {
 public:
  virtual ~SinkTable() = default;

  /// Creates the table, its index and the marker's table where they are missing.
  ///
  /// Throws UsageError: there is another table of that name, naming the first difference; or the
  /// database is read-only, or no database. Nothing was changed.
  virtual void ensure(Instant deadline) = 0;

  /// Shuts out every smaller term, and reads the marker in the same transaction (PROTOCOL 3.4).
  virtual Fenced fence(const FenceRequest& request, Instant deadline) = 0;

  /// Makes rows visible (PROTOCOL 2.3): in one transaction checks the fence, inserts the batches
  /// whose id is above the marker, and sets the marker to `id`. At or below the marker it succeeds
  /// without effect, so it may be repeated.
  ///
  /// Throws JobFailed: a row violates a constraint of the table.
  virtual PublishOutcome publish(Lineage lineage, Term term, CheckpointId id,
                                 StagedBatches& batches, Instant deadline) = 0;

  /// Puts rows at once, for tables that are not `staged` (PROTOCOL 4): in one transaction checks
  /// that the sink is fenced for just this term, and upserts or inserts the rows in `cells`
  /// (cells.hpp). `published`: they are visible and durable. `unknown`: they may be, and repeating
  /// would write them twice; a fence settles it.
  ///
  /// Throws JobFailed: a row violates a constraint of the table.
  virtual PublishOutcome write(Lineage lineage, Term term, std::span<const std::byte> cells,
                               Instant deadline) = 0;
};

/// Opens tables. `database` is what the job calls it: a path, a host.
class SinkTables {
 public:
  virtual ~SinkTables() = default;
  virtual std::unique_ptr<SinkTable> open(const std::string& database,
                                          const TableSchema& schema) = 0;
};

}  // namespace millrace
