#include <limits>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_table.hpp"
#include "millrace/sqlite/sqlite_tables.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "temporary_directory.hpp"
#include "watched_files.hpp"
#include "word_counts.hpp"

using namespace millrace;

namespace {

void execute(const std::string& path, const std::string& sql) {
  Database(path, "", Database::Access::write).execute(sql);
}

void ensure(const std::string& path, const TableSchema& schema) {
  SqliteTable(path, "", schema).ensure(Instant::never());
}

/// What `ensure` says to a database that `sql` was executed in; "" if it agrees.
std::string complaint(const std::string& sql, const TableSchema& schema) {
  const TemporaryDirectory directory;
  execute(directory / "a.db", sql);
  const std::string before = bytes_of(directory / "a.db");
  const std::string text = text_of<UsageError>([&] { ensure(directory / "a.db", schema); });
  if (!text.empty()) {
    CHECK(bytes_of(directory / "a.db") == before);  // A refusal changes nothing.
    CHECK(text.find("a.db") != std::string::npos);
  }
  return text;
}

bool says(const std::string& text, std::string_view part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ensure creates a table, its key and the markers, and agrees with what it made",
          "[sqlite][ensure]") {
  const TemporaryDirectory directory;
  ensure(directory / "a.db", unique_word_counts());
  CHECK_NOTHROW(ensure(directory / "a.db", unique_word_counts()));

  CHECK(visible(directory / "a.db").empty());
  CHECK(visible_marker(directory / "a.db") == std::nullopt);
  Database database(directory / "a.db", "", Database::Access::read);
  Statement names(database, "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'");
  std::vector<std::string> found;
  while (names.step()) found.emplace_back(std::get<std::string_view>(names.column(0)));
  CHECK(found == std::vector<std::string>{"millrace_sinks", "words", "millrace_key_words"});
}

TEST_CASE("ensure agrees with a table that a user made alike", "[sqlite][ensure]") {
  CHECK(complaint("CREATE TABLE words(word text NOT NULL, count integer NOT NULL, share real)",
                  word_counts()) == "");
}

TEST_CASE("ensure names the first difference of a table", "[sqlite][ensure]") {
  const auto [sql, part] = GENERATE(table<const char*, const char*>({
      {"CREATE TABLE words(name TEXT NOT NULL, count INTEGER NOT NULL, share REAL)",
       "column 1 is `name` TEXT NOT NULL; expected `word` TEXT NOT NULL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count BIGINT NOT NULL, share REAL)",
       "column 2 is `count` BIGINT NOT NULL; expected `count` INTEGER NOT NULL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count NOT NULL, share REAL)",
       "column 2 is `count` without a type NOT NULL; expected `count` INTEGER NOT NULL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count INTEGER, share REAL)",
       "column 2 is `count` INTEGER; expected `count` INTEGER NOT NULL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL NOT NULL)",
       "column 3 is `share` REAL NOT NULL; expected `share` REAL"},
      {"CREATE TABLE words(word TEXT NOT NULL, share REAL, count INTEGER NOT NULL)",
       "column 2 is `share` REAL; expected `count` INTEGER NOT NULL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL)",
       "column 3 is missing; expected `share` REAL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL, more TEXT)",
       "column 4 is `more` TEXT; expected no more than 3 columns"},
      {"CREATE TABLE words(word TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL, share REAL)",
       "column 1 is `word` TEXT NOT NULL PRIMARY KEY; expected `word` TEXT NOT NULL"},
      {"CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL AS (1.0))",
       "column 3 is `share` REAL GENERATED; expected `share` REAL"},
      {"CREATE TABLE Words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL)",
       "it is spelt `Words`; expected `words`"},
      {"CREATE VIEW words AS SELECT 1", "it is of kind `view`; expected an ordinary table"},
      {"CREATE VIRTUAL TABLE words USING fts4(word)", "it is of kind `virtual`"},
      {"CREATE TABLE t(x); CREATE INDEX words ON t(x)", "it is of kind `index`"},
      {"CREATE TABLE millrace_sinks(sink TEXT)", "table `millrace_sinks` in database"},
      {"PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(x)", "its texts are UTF-16le; expected UTF-8"},
  }));
  CAPTURE(sql);
  CHECK(says(complaint(sql, word_counts()), part));
}

TEST_CASE("ensure names how an index differs", "[sqlite][ensure]") {
  const std::string words =
      "CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL);";
  const auto [sql, part] = GENERATE(table<const char*, const char*>({
      {"CREATE UNIQUE INDEX millrace_key_words ON words(word)",
       "`millrace_key_words` is UNIQUE INDEX (`word`); expected INDEX (`word`)"},
      {"CREATE INDEX millrace_key_words ON words(count, word)",
       "is INDEX (`count`, `word`); expected INDEX (`word`)"},
      {"CREATE INDEX millrace_key_words ON words(word COLLATE NOCASE)",
       "is INDEX (`word` COLLATE NOCASE); expected"},
      {"CREATE INDEX millrace_key_words ON words(word DESC)", "is INDEX (`word` DESC); expected"},
      {"CREATE INDEX millrace_key_words ON words(word) WHERE count > 1",
       "is INDEX (`word`) WHERE ...; expected"},
      {"CREATE INDEX millrace_key_words ON words(count + 1)", "is INDEX (an expression); expected"},
      {"CREATE TABLE millrace_key_words(x)", "is something else; expected"},
  }));
  CAPTURE(sql);
  CHECK(says(complaint(words + sql, word_counts()), part));
  CHECK(says(
      complaint(words + "CREATE INDEX millrace_key_words ON words(word)", unique_word_counts()),
      "is INDEX (`word`); expected UNIQUE INDEX (`word`)"));
}

TEST_CASE("ensure refuses a unique key over rows that are equal in it", "[sqlite][ensure]") {
  const std::string sql =
      "CREATE TABLE words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL);"
      "INSERT INTO words VALUES ('a', 1, NULL), ('a', 2, NULL)";

  CHECK(says(complaint(sql, unique_word_counts()), "it has rows that are equal in the key"));
  CHECK(complaint(sql, word_counts()) == "");
}

TEST_CASE("a schema that cannot be a table is refused before anything is opened",
          "[sqlite][ensure]") {
  const TemporaryDirectory directory;
  const auto refusal = [&](auto change) {
    TableSchema schema = word_counts();
    change(schema);
    return text_of<UsageError>([&] { ensure(directory / "a.db", schema); });
  };
  using S = TableSchema&;

  CHECK(says(refusal([](S s) { s.table = "millrace_sinks"; }), "are reserved"));
  CHECK(says(refusal([](S s) { s.table = "Millrace_x"; }), "are reserved"));
  CHECK(says(refusal([](S s) { s.table = "SQLITE_sequence"; }), "are reserved"));
  CHECK(says(refusal([](S s) { s.table = ""; }), "expected a name"));
  CHECK(says(refusal([](S s) { s.table = std::string("a\0b", 3); }), "expected a name"));
  CHECK(says(refusal([](S s) { s.columns.clear(); }), "it has no columns"));
  CHECK(says(refusal([](S s) { s.columns[1].name = ""; }), "expected columns with names"));
  CHECK(says(refusal([](S s) { s.columns[1].name = "WORD"; }), "there are two columns `WORD`"));
  CHECK(says(refusal([](S s) { s.key = {"colour"}; }), "its key names `colour`"));
  CHECK(says(refusal([](S s) { s.key = {"word", "word"}; }), "its key names `word` twice"));
  CHECK(says(refusal([](S s) { s.key.clear(), s.unique_key = true; }), "expected it to be given"));
  CHECK(directory.empty());
}

TEST_CASE("a database that cannot be written is the user's mistake", "[sqlite][ensure]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  ensure(directory / "a.db", word_counts());
  files.read_only = true;
  SqliteTable read_only(directory / "a.db", files.name(), word_counts());
  write_file(directory / "letter", "Dear Sir or Madam");

  CHECK(says(text_of<UsageError>([&] { read_only.ensure(Instant::never()); }), "is read-only"));
  CHECK(says(text_of<UsageError>([&] { ensure(directory / "letter", word_counts()); }),
             "expected an SQLite database"));
  CHECK(bytes_of(directory / "letter") == "Dear Sir or Madam");
  CHECK(says(text_of<UsageError>([&] { ensure(directory / "none/a.db", word_counts()); }),
             "a directory that exists"));
}

TEST_CASE("tables and columns may have any name", "[sqlite][ensure]") {
  const TemporaryDirectory directory;
  const std::string table = GENERATE("order", "a\"b", "two words", "größe", "x'y", "words_key");
  TableSchema schema;
  schema.table = table;
  schema.columns = {{"select", TableSchema::Type::integer},
                    {"a\"b", TableSchema::Type::text},
                    {"rowid", TableSchema::Type::integer},
                    {"'", TableSchema::Type::integer}};
  schema.key = {"a\"b", "select"};
  schema.unique_key = true;
  SqliteTable sink(directory / "a.db", "", schema);
  start(sink, {1});
  CHECK_NOTHROW(ensure(directory / "a.db", schema));

  CellWriter rows;
  rows.integer(1);
  rows.text("x");
  rows.integer(77);
  rows.integer(4);
  StagedList batches({{{{1}, 1}, {rows.take()}}});
  CHECK(sink.publish(ours, {1}, {{1}, 1}, batches, Instant::never()) == PublishOutcome::published);

  std::vector<std::int64_t> seen;
  TableReader(directory / "a.db", "", table)
      .look([&](std::int64_t rowid, std::span<const Cell> cells) {
        seen = {rowid, std::get<std::int64_t>(cells[0]), std::get<std::int64_t>(cells[2])};
      });
  CHECK(seen == std::vector<std::int64_t>{1, 1, 77});
}

TEST_CASE("two sinks share a database and know nothing of each other", "[sqlite][ensure]") {
  const TemporaryDirectory directory;
  SqliteTables tables(directory / "");
  TableSchema schema = word_counts();
  const auto words = tables.open("a.db", schema);
  schema.table = "words_key";  // A name that an index might have wanted.
  const auto others = tables.open("a.db", schema);
  start(*words, {1});
  start(*others, {7});

  CHECK(publish(*words, {1}, {{1}, 1}, {{"a", 1}}) == PublishOutcome::published);
  CHECK(visible(directory / "a.db") == std::vector<std::string>{"a 1"});
  const auto look = TableReader(directory / "a.db", "", "words_key").look([](auto, auto) {});
  CHECK(look.rows == 0);
  CHECK(look.marker == Marker{ours, {7}, CheckpointId::genesis()});
}
