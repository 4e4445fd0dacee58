#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "sqlite_stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

// Connections of several tasks to one database on a simulated disk.

namespace {

constexpr const char* path = "numbers.db";

void make_table(const std::string& vfs, bool with_log) {
  Database database(path, vfs, Database::Access::write);
  if (with_log) database.make_durable();
  database.execute("CREATE TABLE numbers(n)");
  database.execute("INSERT INTO numbers VALUES(1)");
}

/// When a writer that begins at `begin` is let in or turned away, if another one holds the database
/// from 100 ms to `held_until`.
struct Turn {
  bool let_in = false;
  Instant at;
  std::int64_t rows = 0;
};
Turn second_writer(Instant begin, Instant held_until, bool with_log) {
  Turn turn;
  SqliteStage stage([&](Env& env, const std::string& vfs) {
    make_table(vfs, with_log);
    const auto second = env.tasks.start("second", [&](Env& own) {
      sleep_until(own, begin);
      Database database(path, vfs, Database::Access::write);
      try {
        Transaction transaction(database, Transaction::Kind::write);
        turn.let_in = true;
        turn.at = own.now();
        turn.rows = number(database, "SELECT count(*) FROM numbers");
      } catch (const Unavailable&) {
        turn.at = own.now();
      }
    });
    sleep_until(env, at_ms(100));
    Database database(path, vfs, Database::Access::write);
    Transaction transaction(database, Transaction::Kind::write);
    database.execute("INSERT INTO numbers VALUES(2)");
    sleep_until(env, held_until);
    transaction.commit();
    second->join(Instant::never());
  });
  stage.world.start(stage.node);
  stage.run();
  return turn;
}

}  // namespace

TEST_CASE("a second writer waits in virtual time until the first has committed", "[sim][sqlite]") {
  for (const bool with_log : {false, true}) {
    const Turn turn = second_writer(at_ms(200), at_ms(1'000), with_log);

    CAPTURE(with_log);
    CHECK(turn.let_in);
    CHECK(turn.at >= at_ms(1'000));
    CHECK(turn.at < at_ms(1'200));  // It looks every 100 ms at least.
    CHECK(turn.rows == 2);          // And sees what was committed.
  }
}

TEST_CASE("a writer gives up after the busy timeout, five seconds of virtual time",
          "[sim][sqlite]") {
  for (const bool with_log : {false, true}) {
    const Turn turn = second_writer(at_ms(200), at_ms(20'000), with_log);

    CAPTURE(with_log);
    CHECK_FALSE(turn.let_in);
    CHECK(turn.at > at_ms(5'000));
    CHECK(turn.at < at_ms(5'300));
  }
}

TEST_CASE("a reader of a log sees one state per transaction, and waits for nobody",
          "[sim][sqlite]") {
  std::vector<std::int64_t> seen;
  SqliteStage stage([&](Env&, const std::string& vfs) {
    make_table(vfs, true);
    Database writing(path, vfs, Database::Access::write);
    Database reading(path, vfs, Database::Access::read);
    const auto look = [&] { seen.push_back(number(reading, "SELECT count(*) FROM numbers")); };
    look();
    {
      const Transaction state(reading, Transaction::Kind::read);
      look();
      writing.execute("INSERT INTO numbers VALUES(2)");
      look();
    }
    look();
    Transaction transaction(writing, Transaction::Kind::write);
    writing.execute("INSERT INTO numbers VALUES(3)");
    look();
    transaction.commit();
    look();
  });
  stage.world.start(stage.node);
  stage.run();

  CHECK(seen == std::vector<std::int64_t>{1, 1, 1, 2, 2, 3});
}

TEST_CASE("without a log a reader keeps a writer from committing", "[sim][sqlite]") {
  bool turned_away = false;
  bool committed = false;
  bool reader_turned_away = false;
  SqliteStage stage([&](Env&, const std::string& vfs) {
    make_table(vfs, false);
    Database writing(path, vfs, Database::Access::write);
    Database reading(path, vfs, Database::Access::read);
    Transaction transaction(writing, Transaction::Kind::write);
    writing.execute("INSERT INTO numbers VALUES(2)");
    {
      const Transaction state(reading, Transaction::Kind::read);
      number(reading, "SELECT count(*) FROM numbers");
      try {
        transaction.commit();
      } catch (const Unavailable&) {
        turned_away = true;
      }
    }
    // The writer waits for the last reader to leave, so no new one is let in.
    try {
      number(reading, "SELECT count(*) FROM numbers");
    } catch (const Unavailable&) {
      reader_turned_away = true;
    }
    committed = transaction.commit() == CommitOutcome::committed;
  });
  stage.world.start(stage.node);
  stage.run();

  CHECK(turned_away);
  CHECK(reader_turned_away);
  CHECK(committed);
}

TEST_CASE("locks go with the life that took them", "[sim][sqlite]") {
  for (const bool with_log : {false, true}) {
    std::vector<Instant> got_in;
    SqliteStage stage([&](Env& env, const std::string& vfs) {
      if (!database_exists(path, vfs)) make_table(vfs, with_log);
      Database database(path, vfs, Database::Access::write);
      const Transaction transaction(database, Transaction::Kind::write);
      got_in.push_back(env.now());
      wait_for_ever(env);
    });
    World& world = stage.world;
    world.start(stage.node);
    stage.run(at_ms(100));
    world.kill(stage.node);
    world.start(stage.node);
    stage.run(at_ms(200));

    CAPTURE(with_log);
    REQUIRE(got_in.size() == 2);
    CHECK(got_in[1] < at_ms(110));  // Without waiting for anybody.
  }
}

TEST_CASE("a judge reads from outside, without time, also while the node is dead",
          "[sim][sqlite]") {
  SqliteStage stage([](Env& env, const std::string& vfs) {
    make_table(vfs, true);
    wait_for_ever(env);
  });
  World& world = stage.world;
  world.start(stage.node);
  stage.run(at_ms(100));
  const Instant before = world.now();
  const std::uint64_t events = world.trace().events();
  const auto rows_seen_outside = [&] {
    const World::Outside outside(world);
    Database database(path, "sim.database", Database::Access::read);
    return number(database, "SELECT count(*) FROM numbers");
  };

  CHECK(rows_seen_outside() == 1);
  CHECK(world.now() == before);
  CHECK(world.trace().events() == events);
  world.kill(stage.node);
  CHECK(rows_seen_outside() == 1);
}
