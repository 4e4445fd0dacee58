#include "millrace/runtime/sink/direct_writer.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/runtime/table_sink.hpp"

#include "fake_world.hpp"

using namespace millrace;

namespace {

/// A table that remembers what is written to it, and answers as told.
class RecordingTable final : public SinkTable {
 public:
  struct Write {
    Lineage lineage;
    Term term;
    std::vector<std::int64_t> values;
  };
  std::vector<Write> writes;
  PublishOutcome answer = PublishOutcome::published;

  void ensure(Instant) override { FAIL("a writer makes no table"); }
  Fenced fence(const FenceRequest&, Instant) override {
    FAIL("a writer fences nobody");
    return {};
  }
  PublishOutcome publish(Lineage, Term, CheckpointId, StagedBatches&, Instant) override {
    FAIL("a writer publishes nothing");
    return PublishOutcome::fenced;
  }
  PublishOutcome write(Lineage lineage, Term term, std::span<const std::byte> cells,
                       Instant) override {
    Write made{lineage, term, {}};
    CellReader reader(cells);
    while (!reader.at_end()) made.values.push_back(std::get<std::int64_t>(reader.next()));
    writes.push_back(std::move(made));
    return answer;
  }
};

/// Lends the one table to whoever opens it, and remembers what was asked for.
class OneTable final : public SinkTables {
 public:
  std::string database;
  TableSchema schema;
  RecordingTable* opened = nullptr;

  std::unique_ptr<SinkTable> open(const std::string& name, const TableSchema& wanted) override {
    database = name;
    schema = wanted;
    auto table = std::make_unique<RecordingTable>();
    opened = table.get();
    return table;
  }
};

struct WriteNumber {
  void operator()(std::int64_t value, CellWriter& cells) const { cells.integer(value); }
};

/// Subtask 1 of an upsert sink, in term 4 of a history.
struct Driven {
  Driven() : sink(upsert_table<std::int64_t>("some.db", schema(), WriteNumber{})) {
    Env plain = world.env("sink.1");
    const Env env{plain.node,    plain.role,   plain.clock,     plain.parker,   plain.tasks,
                  plain.network, plain.disk,   plain.store,     plain.log,      tables,
                  plain.host,    plain.chance, plain.landmarks, plain.user_code};
    stage = sink.open({env, {1, 2}, {{3}, 7}, Lineage{1, 2}, Term{4}}, "sink");
  }
  static TableSchema schema() {
    TableSchema schema;
    schema.table = "numbers";
    schema.columns = {{"number", TableSchema::Type::integer}};
    schema.key = {"number"};
    return schema;
  }
  void take(std::int64_t first, std::int64_t count) {
    Batch<std::int64_t> batch;
    for (std::int64_t i = first; i < first + count; ++i) {
      batch.add(EventTime{i}, i);
      if (!batch.full()) continue;
      stage->take(batch);
      batch.clear();
    }
    stage->take(batch);
  }
  void barrier() {
    Snapshot snapshot;
    snapshot.acknowledgement.id = {{4}, 1};
    stage->save(snapshot);
    CHECK(snapshot.rows.empty());  // Nothing is staged, and nothing is state.
    CHECK(snapshot.parts.empty());
    CHECK(snapshot.acknowledgement.staged.empty());
  }
  std::vector<RecordingTable::Write>& writes() { return tables.opened->writes; }

  FakeWorld world;
  OneTable tables;
  Sink<std::int64_t> sink;
  std::unique_ptr<Consumer<std::int64_t>> stage;
};

}  // namespace

TEST_CASE("a direct sink says how its rows come into the table", "[runtime][direct]") {
  const Driven upsert;
  CHECK(upsert.tables.database == "some.db");
  CHECK(upsert.tables.schema.table == "numbers");
  CHECK(upsert.tables.schema.mode == SinkMode::upsert);
  CHECK(insert_table<std::int64_t>("d", Driven::schema(), WriteNumber{}).schema.mode ==
        SinkMode::insert);
  CHECK(staged_table<std::int64_t>("d", Driven::schema(), WriteNumber{}).schema.mode ==
        SinkMode::staged);
}

TEST_CASE("rows are durable before their barrier is acknowledged", "[runtime][direct]") {
  Driven driven;
  driven.take(0, 3);
  CHECK(driven.writes().empty());
  driven.barrier();

  REQUIRE(driven.writes().size() == 1);
  CHECK(driven.writes()[0].values == std::vector<std::int64_t>{0, 1, 2});
  CHECK(driven.writes()[0].lineage == Lineage{1, 2});
  CHECK(driven.writes()[0].term == Term{4});
  CHECK(driven.world.landmarks.counted("rows_written") == 3);

  driven.barrier();  // An interval without rows writes none.
  CHECK(driven.writes().size() == 1);
}

TEST_CASE("a task that has nothing else to do writes what it has", "[runtime][direct]") {
  Driven driven;
  driven.take(0, 2);
  driven.stage->flush();

  REQUIRE(driven.writes().size() == 1);
  CHECK(driven.writes()[0].values == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("a transaction has at most 1,024 rows", "[runtime][direct]") {
  Driven driven;
  driven.take(0, 2500);
  REQUIRE(driven.writes().size() == 2);
  driven.barrier();

  REQUIRE(driven.writes().size() == 3);
  std::vector<std::int64_t> all;
  for (const auto& write : driven.writes()) {
    CHECK(write.values.size() <= 1024);
    all.insert(all.end(), write.values.begin(), write.values.end());
  }
  REQUIRE(all.size() == 2500);
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == static_cast<std::int64_t>(i));
}

TEST_CASE("a writer whose term is over, or who does not know, ends", "[runtime][direct]") {
  Driven driven;
  driven.take(0, 1);
  driven.tables.opened->answer = PublishOutcome::fenced;
  CHECK_THROWS_AS(driven.stage->flush(), WorldError);
  CHECK(driven.world.landmarks.times("fenced_out") == 1);
  CHECK(driven.world.landmarks.times("rows_written") == 0);

  Driven unsure;
  unsure.take(0, 1);
  unsure.tables.opened->answer = PublishOutcome::unknown;
  CHECK_THROWS_AS(unsure.barrier(), Unavailable);
  CHECK(unsure.world.landmarks.times("rows_written") == 0);
}
