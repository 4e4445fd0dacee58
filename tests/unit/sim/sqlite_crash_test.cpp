#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "sqlite_stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

// SQLite on a simulated disk: what it keeps when its process or its machine dies. That its default
// mode loses commits, and that its log shows what was never synced, is known of it; here it shows
// that the disk bites.

namespace {

enum class Journal { wal_full, delete_full };
enum class Death { of_process, of_machine };

/// What a table of numbers, committed one by one from 1 on, has come to.
struct Ledger {
  std::int64_t acknowledged = 0;  ///< The commit of this number has returned.
  std::int64_t commits = 0;
  int lives = 0;
  int lost = 0;       ///< Lives that found less than was acknowledged.
  int unasked = 0;    ///< Lives that found more.
  bool whole = true;  ///< No life found a gap, or a number that nobody wrote.
  bool sound = true;  ///< SQLite has found no damage.
};

void look(Database& database, Ledger& ledger) {
  const std::int64_t rows = number(database, "SELECT count(*) FROM numbers");
  const std::int64_t highest = number(database, "SELECT max(n) FROM numbers");
  ledger.whole &= rows == highest && highest <= ledger.acknowledged + 1;
  ledger.lost += highest < ledger.acknowledged ? 1 : 0;
  ledger.unasked += highest > ledger.acknowledged ? 1 : 0;
  ledger.acknowledged = highest;
  if (++ledger.lives % 50 == 0) {
    Statement check(database, "PRAGMA integrity_check");
    ledger.sound &= check.step() && check.column(0) == Cell{std::string_view("ok")};
  }
}

/// Commits one number after the other until the node dies.
void commit_numbers(const std::string& vfs, Journal journal, Ledger& ledger) {
  Database database("numbers.db", vfs, Database::Access::write);
  if (journal == Journal::wal_full) {
    database.make_durable();
  } else {
    database.execute("PRAGMA journal_mode = delete");
    database.execute("PRAGMA synchronous = full");
  }
  database.execute("CREATE TABLE IF NOT EXISTS numbers(n INTEGER PRIMARY KEY, filling TEXT)");
  look(database, ledger);
  while (true) {
    const std::int64_t next = ledger.acknowledged + 1;
    database.execute("INSERT INTO numbers VALUES(" + std::to_string(next) +
                     ", printf('%.*c', 700, 'x'))");
    ledger.acknowledged = next;
    ++ledger.commits;
    if (next % 16 == 0) database.checkpoint();
  }
}

/// Lets a process commit numbers through so many deaths, each in the middle of some operation.
Ledger commit_through(int deaths, Death death, Journal journal) {
  Ledger ledger;
  SqliteStage stage([&](Env&, const std::string& vfs) { commit_numbers(vfs, journal, ledger); });
  World& world = stage.world;
  Draws draws({1}, Domain::plan, "test");
  constexpr Site life_site{"test.life"};
  for (int i = 0; i < deaths; ++i) {
    world.start(stage.node);
    stage.run(world.now() + std::chrono::microseconds(draws.below(life_site, 40'000)));
    if (death == Death::of_machine) {
      world.lose_power(stage.node);
    } else {
      world.kill(stage.node);
    }
  }
  world.start(stage.node);
  stage.run(world.now() + 100ms);
  return ledger;
}

}  // namespace

TEST_CASE("a synced write-ahead log loses no acknowledged commit in 500 losses of power",
          "[sim][sqlite]") {
  const Ledger ledger = commit_through(500, Death::of_machine, Journal::wal_full);

  CHECK(ledger.lost == 0);
  CHECK(ledger.whole);
  CHECK(ledger.sound);
  // And it was no easy life: most of them got to commit, and many died with a commit under way.
  CHECK(ledger.lives > 250);
  CHECK(ledger.commits > 1'000);
  CHECK(ledger.unasked > 20);
}

TEST_CASE("a synced write-ahead log loses no acknowledged commit in 500 deaths of its process",
          "[sim][sqlite]") {
  const Ledger ledger = commit_through(500, Death::of_process, Journal::wal_full);

  CHECK(ledger.lost == 0);
  CHECK(ledger.whole);
  CHECK(ledger.sound);
  CHECK(ledger.unasked > 100);  // What was written is seen, though nobody was told so.
}

TEST_CASE("SQLite's default journal loses acknowledged commits with the power", "[sim][sqlite]") {
  const Ledger ledger = commit_through(500, Death::of_machine, Journal::delete_full);

  CHECK(ledger.lost > 0);  // The removal of the journal was undone, and so was the commit.
  CHECK(ledger.lost < 250);
  CHECK(ledger.whole);
  CHECK(ledger.sound);
}

TEST_CASE("SQLite's default journal loses nothing with its process", "[sim][sqlite]") {
  const Ledger ledger = commit_through(200, Death::of_process, Journal::delete_full);

  CHECK(ledger.lost == 0);
  CHECK(ledger.whole);
  CHECK(ledger.sound);
}

TEST_CASE("a commit that was never synced may be seen after a kill, and gone after a power loss",
          "[sim][sqlite]") {
  int seen_then_gone = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::int64_t acknowledged = 0;
    std::vector<std::int64_t> found;  // By the lives behind the first, which only look.
    SqliteStage stage(
        [&](Env& env, const std::string& vfs) {
          Database database("numbers.db", vfs, Database::Access::write);
          if (stage.world.life_of(stage.node) > 1) {
            found.push_back(number(database, "SELECT count(*) FROM numbers"));
            wait_for_ever(env);
          }
          database.make_durable();
          database.execute("CREATE TABLE numbers(n)");
          for (acknowledged = 0;; ++acknowledged) {
            database.execute("INSERT INTO numbers VALUES(1)");
          }
        },
        {seed});
    World& world = stage.world;
    world.start(stage.node);
    stage.run(at_ms(60));
    world.kill(stage.node);
    world.start(stage.node);
    stage.run(at_ms(70));
    world.lose_power(stage.node);
    world.start(stage.node);
    stage.run(at_ms(80));

    REQUIRE(found.size() == 2);
    CAPTURE(seed, acknowledged, found);
    CHECK(found[1] >= acknowledged);  // What was acknowledged had been synced.
    CHECK(found[0] >= found[1]);
    CHECK(found[0] <= acknowledged + 1);
    seen_then_gone += found[0] > found[1] ? 1 : 0;
  }

  CHECK(seen_then_gone > 5);
}

TEST_CASE("a process that dies inside of a commit leaves the disk as it is at that moment",
          "[sim][sqlite]") {
  bool unwound = false;
  bool returned = false;
  Instant began;
  SqliteStage stage(
      [&](Env& env, const std::string& vfs) {
        struct Guard {
          bool& gone;
          ~Guard() { gone = true; }
        };
        const Guard guard{unwound};
        Database database("numbers.db", vfs, Database::Access::write);
        database.make_durable();
        database.execute("CREATE TABLE numbers(n)");
        began = env.now();
        database.execute("INSERT INTO numbers VALUES(1)");
        returned = true;
      },
      {7}, even_timings());
  World& world = stage.world;
  world.start(stage.node);
  while (began == Instant{}) stage.run(world.now() + 100us);
  stage.run(began + 300us);  // By now the commit waits for its sync.
  REQUIRE_FALSE(returned);
  const auto log = world.disk_of(stage.node).find("numbers.db-wal");
  REQUIRE(log != nullptr);
  const std::size_t size = log->size();
  CHECK_FALSE(log->is_synced());

  world.kill(stage.node);
  stage.run(world.now() + 100ms);

  CHECK(unwound);
  CHECK_FALSE(returned);
  CHECK(log->size() == size);
  CHECK_FALSE(log->is_synced());
  CHECK(world.disk_of(stage.node).find("numbers.db-wal") == log);
}

TEST_CASE("SQLite writes the same bytes in runs of the same seed", "[sim][sqlite]") {
  const auto log_of = [](std::uint64_t seed) {
    SqliteStage stage(
        [](Env&, const std::string& vfs) {
          Database database("numbers.db", vfs, Database::Access::write);
          database.make_durable();
          database.execute("CREATE TABLE numbers(n)");
          database.execute("INSERT INTO numbers VALUES(random())");
        },
        {seed});
    stage.world.start(stage.node);
    stage.run();
    const auto log = stage.world.disk_of(stage.node).find("numbers.db-wal");
    Bytes bytes(log->size());
    log->read(0, bytes);
    return std::pair(bytes, stage.world.trace().hash());
  };

  const auto one = log_of(1);
  const auto two = log_of(2);
  CHECK(one.first.size() > 4'096);
  CHECK((log_of(1) == one));  // Whatever ran in this process in between.
  CHECK((two.first != one.first));
}
