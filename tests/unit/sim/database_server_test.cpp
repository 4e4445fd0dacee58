#include "millrace/sim/database_server.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sim/sqlite_vfs.hpp"

#include "stage.hpp"
#include "word_counts.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

constexpr Term first{1};
constexpr const char* path = "sink.db";

/// A stage with a database server that is up.
class DatabaseStage : public Stage {
 public:
  explicit DatabaseStage(Seed seed = {7}, const Timings& timings = Timings{})
      : Stage(seed, timings),
        server(world.add_node(database_node, "database",
                              [this](Env& env) {
                                run_database_server(env, {vfs_.name(), [this] { note_commit(); }});
                              })),
        vfs_(world, server) {
    world.start(server);
  }
  ~DatabaseStage() { world.shut_down(); }

  /// The rows that any other program would see now.
  std::vector<std::string> rows() {
    const World::Outside outside(world);
    return visible(path);  // SQLite's default is the disk of this stage.
  }

  NodeId server;
  struct Commit {
    Instant at;
    std::vector<std::string> rows;  ///< As everybody could see them at that moment.
  };
  std::vector<Commit> commits;

 private:
  void note_commit() { commits.push_back({world.now(), rows()}); }

  SqliteVfs vfs_;
};

PublishOutcome publish_by(Env& env, SinkTable& table, CheckpointId id,
                          const std::vector<WordCount>& rows) {
  StagedList batches({{id, {block(rows)}}});
  return table.publish(ours, first, id, batches, env.in(500ms));
}

/// Publishes again and again, as a committer does, until the outcome is known.
void publish_until_known(Env& env, SinkTable& table, CheckpointId id,
                         const std::vector<WordCount>& rows) {
  while (publish_by(env, table, id, rows) == PublishOutcome::unknown) env.sleep(10ms);
}

}  // namespace

TEST_CASE("rows that a client publishes are seen in the database", "[sim][database]") {
  Fenced fenced;
  PublishOutcome told = PublishOutcome::unknown;
  PublishOutcome told_again = PublishOutcome::unknown;
  std::size_t commits = 0;
  DatabaseStage stage;
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    table->ensure(env.in(1s));
    fenced = table->fence(from_genesis(first), env.in(1s));
    told = publish_by(env, *table, {first, 1}, {{"river", 3}, {"mill", 1}});
    commits = stage.commits.size();
    told_again = publish_by(env, *table, {first, 1}, {{"river", 3}, {"mill", 1}});
  });
  stage.run();

  CHECK(fenced.outcome == FenceOutcome::fenced);
  CHECK(fenced.marker == Marker{ours, first, CheckpointId::genesis()});
  CHECK(told == PublishOutcome::published);
  CHECK(told_again == PublishOutcome::published);  // And nothing twice.
  CHECK(stage.rows() == std::vector<std::string>{"river 3", "mill 1"});
  CHECK(visible_marker(path) == Marker{ours, first, {first, 1}});
  CHECK(commits == 3);  // One for each call that came before.
}

TEST_CASE("several batches of a publish arrive in their order, block by block", "[sim][database]") {
  PublishOutcome told = PublishOutcome::unknown;
  DatabaseStage stage;
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    table->ensure(env.in(1s));
    table->fence(from_genesis(first), env.in(1s));
    publish_by(env, *table, {first, 1}, {{"a", 1}});
    // The first is below the marker by now, and passed over.
    StagedList batches({{{first, 1}, {block({{"a", 1}})}},
                        {{first, 2}, {block({{"b", 1}}), block({{"c", 1}})}},
                        {{first, 3}, {}},
                        {{first, 4}, {block({{"d", 1}})}}});
    told = table->publish(ours, first, {first, 4}, batches, env.in(1s));
  });
  stage.run();

  CHECK(told == PublishOutcome::published);
  CHECK(stage.rows() == std::vector<std::string>{"a 1", "b 1", "c 1", "d 1"});
}

TEST_CASE("a client hears of a commit after everybody can see it", "[sim][database]") {
  Instant told;
  DatabaseStage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    table->ensure(env.in(1s));
    table->fence(from_genesis(first), env.in(1s));
    publish_by(env, *table, {first, 1}, {{"river", 3}});
    told = env.now();
  });
  stage.run();

  REQUIRE(stage.commits.size() == 3);
  CHECK(stage.commits[1].rows.empty());
  CHECK(stage.commits[2].rows == std::vector<std::string>{"river 3"});
  CHECK(told >= stage.commits[2].at + 100us);  // A message later at least.
}

TEST_CASE("errors of the database reach the client as what they are", "[sim][database]") {
  bool job_failed = false;
  bool usage_error = false;
  PublishOutcome told = PublishOutcome::published;
  DatabaseStage stage;
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, unique_word_counts());
    table->ensure(env.in(1s));
    table->fence(from_genesis(first), env.in(1s));
    try {
      publish_by(env, *table, {first, 1}, {{"river", 1}, {"river", 2}});
    } catch (const JobFailed&) {
      job_failed = true;
    }
    TableSchema other = word_counts();
    other.columns.pop_back();
    try {
      env.sinks.open(path, other)->ensure(env.in(1s));
    } catch (const UsageError&) {
      usage_error = true;
    }
    // The connection can still be used.
    StagedList batches({{{first, 1}, {block({{"mill", 1}})}}});
    told = table->publish(theirs, first, {first, 1}, batches, env.in(1s));
  });
  stage.run();

  CHECK(job_failed);
  CHECK(usage_error);
  CHECK(told == PublishOutcome::fenced);
  CHECK(stage.rows().empty());
}

TEST_CASE("a publish during which the server dies is unknown, and repeating it publishes once",
          "[sim][database]") {
  for (const bool with_power : {false, true}) {
    int unknown = 0;
    int unknown_and_seen = 0;
    int known = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      PublishOutcome told = PublishOutcome::unknown;
      Instant began;
      std::vector<std::string> seen;
      DatabaseStage stage({seed});
      World& world = stage.world;
      stage.add("worker1", [&](Env& env) {
        const auto table = env.sinks.open(path, word_counts());
        table->ensure(env.in(1s));
        table->fence(from_genesis(first), env.in(1s));
        began = env.now();
        world.stop();
        env.sleep(1us);
        told = publish_by(env, *table, {first, 1}, {{"river", 3}, {"mill", 1}});
        env.sleep(100ms);  // By then the server is back.
        publish_until_known(env, *table, {first, 1}, {{"river", 3}, {"mill", 1}});
      });
      REQUIRE(stage.run() == World::Ended::stopped);
      Draws draws({seed}, Domain::plan, "test");
      stage.at(began + std::chrono::microseconds(draws.below(Site{"test.death"}, 6'000)), [&] {
        if (with_power) {
          world.lose_power(stage.server);
        } else {
          world.kill(stage.server);
        }
      });
      stage.at(began + 20ms, [&] {
        world.start(stage.server);
        seen = stage.rows();
      });
      stage.run();

      CAPTURE(seed, with_power);
      const std::vector<std::string> all{"river 3", "mill 1"};
      CHECK((seen.empty() || seen == all));
      if (told == PublishOutcome::published) CHECK(seen == all);
      CHECK(stage.rows() == all);
      known += told == PublishOutcome::published ? 1 : 0;
      unknown += told == PublishOutcome::unknown ? 1 : 0;
      unknown_and_seen += told == PublishOutcome::unknown && seen == all ? 1 : 0;
    }

    CAPTURE(with_power, known, unknown, unknown_and_seen);
    CHECK(known > 5);
    CHECK(unknown > 20);
    CHECK(unknown_and_seen > 3);
    CHECK(unknown_and_seen < unknown);
  }
}

TEST_CASE("each client has a connection of its own, and they wait for each other",
          "[sim][database]") {
  std::vector<PublishOutcome> told;
  DatabaseStage stage;
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    table->ensure(env.in(1s));
    table->fence(from_genesis(first), env.in(1s));
    std::vector<std::unique_ptr<RunningTask>> tasks;
    for (std::uint64_t i = 0; i < 5; ++i) {
      tasks.push_back(env.tasks.start("sink." + std::to_string(i), [&told, i](Env& own) {
        TableSchema schema = word_counts();
        schema.table += std::to_string(i);
        const auto mine = own.sinks.open(path, schema);
        mine->ensure(own.in(10s));
        mine->fence(from_genesis(first), own.in(10s));
        for (std::uint64_t n = 1; n <= 5; ++n) {
          StagedList batches({{{first, n}, {block(many_words(10))}}});
          told.push_back(mine->publish(ours, first, {first, n}, batches, own.in(10s)));
        }
      }));
    }
    for (const auto& task : tasks) task->join(Instant::never());
  });
  stage.run();

  CHECK(told == std::vector<PublishOutcome>(25, PublishOutcome::published));
}

TEST_CASE("rows whose publish was answered into the void are there once", "[sim][database]") {
  std::vector<PublishOutcome> told;
  DatabaseStage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    table->ensure(env.in(1s));
    table->fence(from_genesis(first), env.in(1s));
    stage.world.lose_answer(stage.server, "publish", {});
    for (int i = 0; i < 2; ++i) told.push_back(publish_by(env, *table, {first, 1}, {{"river", 3}}));
  });
  stage.run();

  CHECK(told == std::vector{PublishOutcome::unknown, PublishOutcome::published});
  CHECK(stage.rows() == std::vector<std::string>{"river 3"});
}

TEST_CASE("a publish that is late finds its rows published", "[sim][database]") {
  std::vector<PublishOutcome> told;
  DatabaseStage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    table->ensure(env.in(1s));
    table->fence(from_genesis(first), env.in(1s));
    stage.world.delay_answer(stage.server, "publish", 5s, {});
    for (std::uint64_t n = 1; n <= 2; ++n) {
      for (int i = 0; i < 2; ++i) {
        told.push_back(publish_by(env, *table, {first, n}, {{"river", std::int64_t(n)}}));
      }
    }
  });
  stage.run();

  CHECK(told == std::vector{PublishOutcome::unknown, PublishOutcome::published,
                            PublishOutcome::published, PublishOutcome::published});
  CHECK(stage.rows() == std::vector<std::string>{"river 1", "river 2"});
}

TEST_CASE("a database on a disk in trouble publishes all or nothing, and says which or neither",
          "[sim][database]") {
  for (const DiskTrouble trouble : {DiskTrouble::error, DiskTrouble::full}) {
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      std::vector<std::string> rows_then;
      bool was_told = true;
      PublishOutcome told_at_last = PublishOutcome::unknown;
      DatabaseStage stage({seed});
      World& world = stage.world;
      stage.add("worker1", [&](Env& env) {
        const auto table = env.sinks.open(path, word_counts());
        table->ensure(env.in(1s));
        table->fence(from_genesis(first), env.in(1s));
        sleep_until(env, at_ms(500));
        try {
          was_told = publish_by(env, *table, {first, 1}, {{"river", 3}}) != PublishOutcome::unknown;
        } catch (const WorldError&) {
          was_told = false;
        }
        sleep_until(env, at_ms(2'000));
        rows_then = stage.rows();
        while (told_at_last == PublishOutcome::unknown) {
          told_at_last = publish_by(env, *table, {first, 1}, {{"river", 3}});
        }
      });
      const auto begin = at_ms(500) + std::chrono::microseconds(seed * 100);
      stage.at(begin, [&world, &stage, trouble] {
        const auto disturbance = world.trouble_disk(stage.server, trouble, {});
        stage.at(world.now() + 4ms, [&world, disturbance] { world.end(disturbance); });
      });
      stage.run();

      CAPTURE(seed, static_cast<int>(trouble));
      if (was_told) CHECK(rows_then == std::vector<std::string>{"river 3"});
      if (!was_told) ++failed;
      CHECK(told_at_last == PublishOutcome::published);
      CHECK(stage.rows() == std::vector<std::string>{"river 3"});
    }
    CHECK(failed > 5);
    CHECK(failed < 55);
  }
}
