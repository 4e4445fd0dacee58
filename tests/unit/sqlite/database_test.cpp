#include "millrace/sqlite/database.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "temporary_directory.hpp"
#include "watched_files.hpp"
#include "word_counts.hpp"

using namespace millrace;

namespace {

using Access = Database::Access;
using Kind = Transaction::Kind;

Cell only_cell(Statement& statement) {
  REQUIRE(statement.step());
  return statement.column(0);
}

}  // namespace

TEST_CASE("a connection that writes has a log and syncs it", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);
  database.make_durable();

  Statement mode(database, "PRAGMA journal_mode");
  Statement synchronous(database, "PRAGMA synchronous");
  Statement automatic(database, "PRAGMA wal_autocheckpoint");
  Statement temporary(database, "PRAGMA temp_store");
  CHECK(only_cell(mode) == Cell{std::string_view("wal")});
  CHECK(only_cell(synchronous) == Cell{std::int64_t{2}});
  CHECK(only_cell(automatic) == Cell{std::int64_t{0}});
  CHECK(only_cell(temporary) == Cell{std::int64_t{2}});
}

TEST_CASE("a connection can tell that another one has committed", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);
  database.make_durable();
  database.execute("CREATE TABLE t(x)");
  Database other(directory / "a.db", "", Access::write);
  other.execute("PRAGMA user_version");
  const auto before = database.version_of_others();

  database.execute("INSERT INTO t VALUES (1)");
  CHECK(database.version_of_others() == before);
  other.execute("INSERT INTO t VALUES (2)");
  const Transaction transaction(database, Kind::write);
  CHECK(database.version_of_others() != before);
}

TEST_CASE("a database that cannot have a log is refused", "[sqlite][database]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  files.has_shared_memory = false;
  Database database(directory / "a.db", files.name(), Access::write);

  const auto text = text_of<UsageError>([&] { database.make_durable(); });
  CHECK(text.find("a.db") != std::string::npos);
  CHECK(text.find("keeps journal mode `delete`") != std::string::npos);
}

TEST_CASE("a read-only database is refused by a writer", "[sqlite][database]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  Database(directory / "a.db", files.name(), Access::write).make_durable();
  files.read_only = true;
  Database database(directory / "a.db", files.name(), Access::write);

  const auto text = text_of<UsageError>([&] { database.make_durable(); });
  CHECK(text.find("a.db` is read-only") != std::string::npos);
}

TEST_CASE("what is not the path of a file is refused", "[sqlite][database]") {
  for (const char* path : {"", ":memory:", "file:a.db?mode=memory"}) {
    CAPTURE(path);
    CHECK_THROWS_AS(Database(path, "", Access::write), UsageError);
    CHECK_THROWS_AS(database_exists(path, ""), UsageError);
  }
}

TEST_CASE("a directory that does not exist is the user's mistake", "[sqlite][database]") {
  const TemporaryDirectory directory;

  const auto text =
      text_of<UsageError>([&] { Database(directory / "none/a.db", "", Access::write); });
  CHECK(text.find("none/a.db") != std::string::npos);
  CHECK(directory.empty());
}

TEST_CASE("a reader creates no database", "[sqlite][database]") {
  const TemporaryDirectory directory;

  CHECK_THROWS_AS(Database(directory / "a.db", "", Access::read), UsageError);
  CHECK_FALSE(database_exists(directory / "a.db", ""));
  CHECK(directory.empty());
}

TEST_CASE("a file that is no database is the user's mistake and stays as it is",
          "[sqlite][database]") {
  const TemporaryDirectory directory;
  const std::string letter = "Dear Sir or Madam, this is a letter and no database at all.\n";
  write_file(directory / "a.db", letter);
  Database database(directory / "a.db", "", Access::write);

  const auto text = text_of<UsageError>([&] { database.make_durable(); });
  CHECK(text.find("a.db") != std::string::npos);
  CHECK(text.find("expected an SQLite database") != std::string::npos);
  CHECK(bytes_of(directory / "a.db") == letter);
}

TEST_CASE("a damaged page is corruption", "[sqlite][database]") {
  const TemporaryDirectory directory;
  {
    Database database(directory / "a.db", "", Access::write);
    database.execute("CREATE TABLE t(x INTEGER)");
    database.execute("INSERT INTO t VALUES (1)");
  }
  std::string bytes = bytes_of(directory / "a.db");
  bytes.replace(4096, 100, std::string(100, '\x55'));
  write_file(directory / "a.db", bytes);
  Database database(directory / "a.db", "", Access::read);
  Statement statement(database, "SELECT x FROM t");

  CHECK_THROWS_AS(statement.step(), CorruptObject);
}

TEST_CASE("who finds a writer at work waits five seconds and then names the database",
          "[sqlite][database]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  Database first(directory / "a.db", "", Access::write);
  first.make_durable();
  Database second(directory / "a.db", files.name(), Access::write);
  second.make_durable();
  const Transaction writing(first, Kind::write);
  const auto waited_before = files.waited_ms;

  const auto text = text_of<Unavailable>([&] { const Transaction late(second, Kind::write); });
  CHECK(text.find("a.db") != std::string::npos);
  CHECK(text.find("likely another program has it open") != std::string::npos);
  CHECK(files.waited_ms - waited_before == 5000);
}

TEST_CASE("a full database has no space and keeps what it had", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);
  database.make_durable();
  database.execute("CREATE TABLE t(x TEXT)");
  database.execute("PRAGMA max_page_count = 10");
  {
    const Transaction transaction(database, Kind::write);
    Statement insert(database, "INSERT INTO t VALUES (?)");
    const std::string text(100'000, 'x');
    insert.bind(1, text);
    CHECK_THROWS_AS(insert.step(), NoSpace);
  }

  Statement count(database, "SELECT count(*) FROM t");
  CHECK(only_cell(count) == Cell{std::int64_t{0}});
}

TEST_CASE("a constraint fails the job and is named", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);
  database.execute("CREATE TABLE t(x INTEGER CHECK (x < 10))");
  Statement insert(database, "INSERT INTO t VALUES (?)");
  insert.bind(1, std::int64_t{10});

  CHECK(text_of<JobFailed>([&] { insert.step(); }).find("CHECK constraint failed: x < 10") !=
        std::string::npos);
}

TEST_CASE("a text without bytes is empty and not NULL", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);
  Statement same(database, "SELECT ?");
  same.bind(1, std::string_view());
  CHECK(only_cell(same) == Cell{std::string_view()});

  same.reset();
  same.bind(1, Cell{});
  CHECK(only_cell(same) == Cell{});
}

TEST_CASE("a statement that cannot be is an error with SQLite's words", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);

  CHECK(text_of<IoError>([&] {
          Statement(database, "SELECT x FROM t");
        }).find("no such table: t") != std::string::npos);
}

TEST_CASE("a transaction that is let go leaves nothing", "[sqlite][database]") {
  const TemporaryDirectory directory;
  Database database(directory / "a.db", "", Access::write);
  database.make_durable();
  database.execute("CREATE TABLE t(x INTEGER)");
  {
    const Transaction transaction(database, Kind::write);
    database.execute("INSERT INTO t VALUES (1)");
  }
  CHECK_FALSE(database.in_transaction());
  {
    Transaction transaction(database, Kind::write);
    database.execute("INSERT INTO t VALUES (2)");
    CHECK(transaction.commit() == CommitOutcome::committed);
  }

  Statement values(database, "SELECT x FROM t");
  CHECK(only_cell(values) == Cell{std::int64_t{2}});
  CHECK_FALSE(values.step());
}

TEST_CASE("a commit whose sync fails is unknown, and may be repeated", "[sqlite][database]") {
  const TemporaryDirectory directory;
  WatchedFiles files;
  Database database(directory / "a.db", files.name(), Access::write);
  database.make_durable();
  database.execute("CREATE TABLE t(x INTEGER)");
  bool broken = true;
  files.before = [&](const WatchedFiles::Event& event) {
    constexpr int sync_error = 1034;
    return broken && event.call == WatchedFiles::Call::sync ? sync_error : 0;
  };
  {
    Transaction transaction(database, Kind::write);
    database.execute("INSERT INTO t VALUES (1)");
    CHECK(transaction.commit() == CommitOutcome::unknown);
  }
  {
    Transaction transaction(database, Kind::write);
    database.execute("INSERT INTO t VALUES (1)");
    CHECK(text_of<IoError>([&] { transaction.commit_or_throw(); }).find("a.db") !=
          std::string::npos);
  }
  broken = false;
  Transaction transaction(database, Kind::write);
  database.execute("INSERT INTO t VALUES (1)");
  transaction.commit_or_throw();

  Statement count(database, "SELECT count(*) FROM t");
  CHECK(only_cell(count) == Cell{std::int64_t{1}});
}

TEST_CASE("nothing but a checkpoint copies the log into the database", "[sqlite][database]") {
  const TemporaryDirectory directory;
  const std::string text(8'000'000, 'x');
  {
    Database database(directory / "a.db", "", Access::write);
    database.make_durable();
    database.execute("CREATE TABLE t(x TEXT)");
    Statement insert(database, "INSERT INTO t VALUES (?)");
    insert.bind(1, text);
    insert.step();
    CHECK(database.wal_bytes() > text.size());
    CHECK(std::filesystem::file_size(directory / "a.db") < text.size());
  }
  // Closing the last connection has not done it either.
  CHECK(std::filesystem::file_size(directory / "a.db") < text.size());
  CHECK(std::filesystem::file_size(directory / "a.db-wal") > text.size());

  Database database(directory / "a.db", "", Access::write);
  database.make_durable();
  CHECK(database.checkpoint());
  CHECK(std::filesystem::file_size(directory / "a.db") > text.size());
}
