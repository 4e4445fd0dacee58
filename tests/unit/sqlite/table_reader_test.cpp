#include "millrace/sqlite/table_reader.hpp"

#include <stdexcept>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_table.hpp"

#include "temporary_directory.hpp"
#include "watched_files.hpp"
#include "word_counts.hpp"

using namespace millrace;

namespace {

using Outcome = TableLook::Outcome;

void ignore(std::int64_t, std::span<const Cell>) {}

/// A database with two published rows, and its path.
struct Published {
  Published() {
    start(table, {1});
    publish(table, {1}, {{1}, 1}, {{"a", 1}, {"b", 2}});
  }
  TemporaryDirectory directory;
  std::string path = directory / "a.db";
  SqliteTable table{path, "", word_counts()};
};

}  // namespace

TEST_CASE("a reader sees the marker and the rows in order", "[sqlite][reader]") {
  const Published sink;
  std::vector<std::int64_t> rowids;

  const TableLook look = TableReader(sink.path, "", "words")
                             .look([&](std::int64_t rowid, std::span<const Cell> cells) {
                               CHECK(cells.size() == 3);
                               rowids.push_back(rowid);
                             });

  CHECK(look.outcome == Outcome::seen);
  CHECK(look.marker == Marker{ours, {1}, {{1}, 1}});
  CHECK(look.rows == 2);
  CHECK(look.last_rowid == 2);
  CHECK(rowids == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("a reader that goes on sees only what is new", "[sqlite][reader]") {
  Published sink;
  TableReader reader(sink.path, "", "words");
  const auto before = reader.look(ignore);
  publish(sink.table, {1}, {{1}, 2}, {{"c", 3}});

  const auto look = reader.look(
      [&](std::int64_t, std::span<const Cell> cells) {
        CHECK(cells[0] == Cell{std::string_view("c")});
      },
      before.last_rowid);

  CHECK(look.rows == 1);
  CHECK(look.last_rowid == 3);
  CHECK(look.marker->published == CheckpointId{{1}, 2});
  CHECK(reader.look(ignore, look.last_rowid).rows == 0);
  CHECK(reader.look(ignore, look.last_rowid).last_rowid == 3);
}

TEST_CASE("a look sees one state, whatever is published meanwhile", "[sqlite][reader]") {
  Published sink;
  // Two rows at first and one more with every publish, so the marker tells how many there are.
  std::uint64_t n = 1;
  const auto publish_one = [&] { publish(sink.table, {1}, {{1}, ++n}, {{"c", 3}}); };

  SECTION("while rows are visited") {
    TableReader reader(sink.path, "", "words");
    const auto look = reader.look([&](std::int64_t, std::span<const Cell>) { publish_one(); });
    CHECK(look.rows == 2);
    CHECK(look.marker->published == CheckpointId{{1}, 1});
    CHECK(reader.look(ignore).rows == 4);
  }
  SECTION("at any read of the file") {
    int reads = 0;
    for (int moment = 0; reads == moment; ++moment) {
      WatchedFiles files;
      TableReader reader(sink.path, files.name(), "words");
      int calls = 0;
      files.before_read = [&] {
        if (calls++ != moment) return;
        ++reads;
        publish_one();
      };
      const auto look = reader.look(ignore);
      CAPTURE(moment);
      CHECK(look.rows == look.marker->published.n + 1);
    }
    CHECK(reads > 3);
  }
}

TEST_CASE("a reader creates nothing and waits for what is not there yet", "[sqlite][reader]") {
  const TemporaryDirectory directory;
  TableReader reader(directory / "a.db", "", "words");

  CHECK(reader.look(ignore).outcome == Outcome::absent);
  CHECK(directory.empty());

  Database(directory / "a.db", "", Database::Access::write).execute("CREATE TABLE other(x)");
  CHECK(reader.look(ignore).outcome == Outcome::absent);

  SqliteTable sink(directory / "a.db", "", word_counts());
  sink.ensure(Instant::never());
  CHECK(reader.look(ignore).outcome == Outcome::seen);
  CHECK(reader.look(ignore).marker == std::nullopt);
}

TEST_CASE("a reader tells the marker of a table that is gone", "[sqlite][reader]") {
  const Published sink;
  TableReader reader(sink.path, "", "words");
  Database(sink.path, "", Database::Access::write).execute("DROP TABLE words");

  const auto look = reader.look(ignore);
  CHECK(look.outcome == Outcome::absent);
  CHECK(look.marker == Marker{ours, {1}, {{1}, 1}});
}

TEST_CASE("looking leaves the files of a database as they are", "[sqlite][reader]") {
  const Published sink;
  const std::string database = bytes_of(sink.path);
  const std::string log = bytes_of(sink.path + "-wal");

  TableReader(sink.path, "", "words").look(ignore);

  CHECK(bytes_of(sink.path) == database);
  CHECK(bytes_of(sink.path + "-wal") == log);
}

TEST_CASE("a reader that is not let in says so at once", "[sqlite][reader]") {
  const TemporaryDirectory directory;
  Database other(directory / "a.db", "", Database::Access::write);
  other.execute("CREATE TABLE words(word TEXT)");
  WatchedFiles files;
  TableReader reader(directory / "a.db", files.name(), "words");
  other.execute("BEGIN EXCLUSIVE");

  CHECK(reader.look(ignore).outcome == Outcome::busy);
  CHECK(files.waited_ms == 0);
  other.execute("ROLLBACK");
  CHECK(reader.look(ignore).outcome == Outcome::seen);
  other.execute("BEGIN EXCLUSIVE");
  CHECK(reader.look(ignore).outcome == Outcome::busy);
}

TEST_CASE("a reader leaves a half written transaction to the next writer", "[sqlite][reader]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  Database database(directory / "a.db", files.name(), Database::Access::write);
  database.execute("CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL)");
  database.execute("CREATE TABLE t(x)");
  files.after = [&](const WatchedFiles::Event& event) {
    const bool is_database = event.path.ends_with("a.db");
    if (is_database && event.call == WatchedFiles::Call::write) {
      files.after = nullptr;
      copy_database(directory / "a.db", directory / "copy");
    }
  };
  database.execute("INSERT INTO t VALUES (1)");

  TableReader reader(directory / "copy", "", "words");
  CHECK(reader.look(ignore).outcome == Outcome::busy);
  SqliteTable(directory / "copy", "", word_counts()).ensure(Instant::never());
  CHECK(reader.look(ignore).outcome == Outcome::seen);
}

TEST_CASE("a visitor that throws lets go of the database", "[sqlite][reader]") {
  Published sink;
  TableReader reader(sink.path, "", "words");
  const auto complain = [](std::int64_t, std::span<const Cell>) { throw std::logic_error("no"); };

  CHECK_THROWS_AS(reader.look(complain), std::logic_error);
  publish(sink.table, {1}, {{1}, 2}, {{"c", 3}});
  CHECK(reader.look(ignore).rows == 3);
}

TEST_CASE("a reader does not take a column for the rowid", "[sqlite][reader]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Database::Access::write);
  database.execute("CREATE TABLE two(RowId TEXT, oid TEXT); INSERT INTO two VALUES ('x', 'y')");
  database.execute("CREATE TABLE three(rowid TEXT, oid TEXT, _rowid_ TEXT)");
  database.execute("CREATE TABLE blob(x); INSERT INTO blob VALUES (x'00')");

  const auto look = TableReader(directory / "a.db", "", "two")
                        .look([](std::int64_t rowid, std::span<const Cell> cells) {
                          CHECK(rowid == 1);
                          CHECK(cells[0] == Cell{std::string_view("x")});
                        });
  CHECK(look.rows == 1);
  CHECK_THROWS_AS(TableReader(directory / "a.db", "", "three").look(ignore), UsageError);
  CHECK_THROWS_AS(TableReader(directory / "a.db", "", "blob").look(ignore), CorruptObject);
}
