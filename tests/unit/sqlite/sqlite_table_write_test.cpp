#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_table.hpp"

#include "temporary_directory.hpp"
#include "watched_files.hpp"
#include "word_counts.hpp"

using namespace millrace;

namespace {

constexpr Instant whenever = Instant::never();
using Rows = std::vector<std::string>;

TableSchema schema_of(SinkMode mode) {
  TableSchema schema = word_counts();
  schema.mode = mode;
  return schema;
}

/// A sink that is fenced by term 1.
struct Sink {
  explicit Sink(SinkMode mode) : table(path, files.name(), schema_of(mode)) { start(table, {1}); }
  PublishOutcome write(const std::vector<WordCount>& rows, Term term = {1},
                       Lineage lineage = ours) {
    return table.write(lineage, term, block(rows), whenever);
  }
  Rows rows() const { return visible(path); }

  TemporaryDirectory directory;
  std::string path = directory / "a.db";
  WatchedFiles files;
  SqliteTable table;
};

}  // namespace

TEST_CASE("rows that are inserted are visible at once, and twice if written twice",
          "[sqlite][write]") {
  Sink sink(SinkMode::insert);
  CHECK(sink.write({{"a", 1}, {"b", 2}}) == PublishOutcome::published);
  CHECK(sink.rows() == Rows{"a 1", "b 2"});
  CHECK(sink.write({{"a", 1}}) == PublishOutcome::published);
  CHECK(sink.rows() == Rows{"a 1", "b 2", "a 1"});
}

TEST_CASE("an upserted row replaces the one with its key", "[sqlite][write]") {
  Sink sink(SinkMode::upsert);
  CHECK(sink.write({{"a", 1}, {"b", 2}}) == PublishOutcome::published);
  CHECK(sink.write({{"b", 2}, {"a", 7}, {"c", 3}, {"c", 4}}) == PublishOutcome::published);
  CHECK(sink.rows() == Rows{"a 7", "b 2", "c 4"});
}

TEST_CASE("a write leaves the marker as it is, and a publish of nothing raises it",
          "[sqlite][write]") {
  Sink sink(SinkMode::upsert);
  sink.write({{"a", 1}});
  CHECK(visible_marker(sink.path) == Marker{ours, {1}, CheckpointId::genesis()});
  StagedList nothing({});
  CHECK(sink.table.publish(ours, {1}, {{1}, 3}, nothing, whenever) == PublishOutcome::published);
  CHECK(visible_marker(sink.path) == Marker{ours, {1}, {{1}, 3}});
}

TEST_CASE("only the term that has fenced the sink writes", "[sqlite][write]") {
  for (const SinkMode mode : {SinkMode::insert, SinkMode::upsert}) {
    Sink sink(mode);
    SqliteTable successor(sink.path, sink.files.name(), schema_of(mode));
    successor.fence(from_past({5}), whenever);

    CHECK(sink.write({{"late", 1}}, {1}) == PublishOutcome::fenced);
    CHECK(sink.write({{"early", 1}}, {6}) == PublishOutcome::fenced);
    CHECK(sink.write({{"other", 1}}, {5}, theirs) == PublishOutcome::fenced);
    CHECK(sink.rows().empty());
    CHECK(sink.write({{"now", 1}}, {5}) == PublishOutcome::published);
    CHECK(sink.rows() == Rows{"now 1"});
  }
}

TEST_CASE("nobody writes to a sink that was never fenced", "[sqlite][write]") {
  TemporaryDirectory directory;
  const std::string path = directory / "a.db";
  SqliteTable table(path, "", schema_of(SinkMode::insert));
  table.ensure(whenever);

  CHECK(table.write(ours, {1}, block({{"a", 1}}), whenever) == PublishOutcome::fenced);
  CHECK(visible(path).empty());
}

TEST_CASE("the key of an upsert table is unique and never null", "[sqlite][write]") {
  Sink sink(SinkMode::upsert);
  Database database(sink.path, "", Database::Access::write);
  database.execute("INSERT INTO words VALUES ('a', 1, NULL)");
  CHECK(text_of<JobFailed>([&] {
          database.execute("INSERT INTO words VALUES ('a', 2, NULL)");
        }).find("UNIQUE") != std::string::npos);

  TableSchema loose = schema_of(SinkMode::upsert);
  loose.columns[0].nullable = true;
  CHECK(text_of<UsageError>([&] {
          SqliteTable(sink.directory / "b.db", "", loose).ensure(whenever);
        }).find("its key has `word`, which may be null") != std::string::npos);
}

TEST_CASE("a table that is all key is upserted as well", "[sqlite][write]") {
  TableSchema schema = schema_of(SinkMode::upsert);
  schema.columns.resize(1);
  TemporaryDirectory directory;
  SqliteTable table(directory / "a.db", "", schema);
  start(table, {1});
  CellWriter cells;
  for (const char* const word : {"a", "b", "a"}) {
    cells.text(word);
    cells.end_row();
  }
  CHECK(table.write(ours, {1}, cells.take(), whenever) == PublishOutcome::published);
  Database database(directory / "a.db", "", Database::Access::read);
  Statement count(database, "SELECT count(*) FROM words");
  REQUIRE(count.step());
  CHECK(std::get<std::int64_t>(count.column(0)) == 2);
}
