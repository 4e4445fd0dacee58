#include "millrace/sim/memory_database.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/sim/database_server.hpp"

#include "stage.hpp"
#include "word_counts.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

using Rows = std::vector<std::string>;

constexpr Term first{1};
constexpr const char* path = "sink.db";

/// A stage with a database server that is up and holds its tables in memory.
class MemoryStage : public Stage {
 public:
  explicit MemoryStage(Seed seed = {7}, const Timings& timings = Timings{})
      : Stage(seed, timings), server(world.add_node(database_node, "database", [this](Env& env) {
          run_database_server(env, {"", [this] { commits.push_back(rows()); }, &database});
        })) {
    world.start(server);
  }
  ~MemoryStage() { world.shut_down(); }

  Rows rows() const {
    Rows seen;
    database.look("words", [&seen](std::int64_t rowid, std::span<const Cell> cells) {
      CHECK(rowid == static_cast<std::int64_t>(seen.size()) + 1);
      seen.push_back(fmt::format("{} {}", std::get<std::string_view>(cells[0]),
                                 std::get<std::int64_t>(cells[1])));
    });
    return seen;
  }

  MemoryDatabase database;
  std::vector<Rows> commits;  ///< What was there at each.
  NodeId server;
};

PublishOutcome publish_by(Env& env, SinkTable& table, CheckpointId id,
                          const std::vector<WordCount>& rows) {
  StagedList batches({{id, {block(rows)}}});
  return table.publish(ours, first, id, batches, env.in(500ms));
}

}  // namespace

TEST_CASE("a commit in memory takes the time of a write and a sync, and is told of after both",
          "[sim][database]") {
  Instant began;
  Instant told;
  MemoryStage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    const auto table = env.sinks.open(path, word_counts());
    start(*table, first);
    began = env.now();
    publish_by(env, *table, {first, 1}, {{"river", 3}});
    told = env.now();
  });
  stage.run();

  CHECK(stage.commits == std::vector<Rows>{{}, {}, {"river 3"}});
  CHECK(told - began >= 510us + 2 * 100us);
  CHECK(told - began < 1ms);
}

TEST_CASE("no death of its node takes anything from a database in memory, or leaves half of it",
          "[sim][database]") {
  const Rows all{"river 3", "mill 1"};
  for (const bool with_power : {false, true}) {
    int known = 0;
    int unknown_and_seen = 0;
    int unknown_and_unseen = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      PublishOutcome told = PublishOutcome::unknown;
      Instant began;
      Rows seen;
      MemoryStage stage({seed});
      World& world = stage.world;
      stage.add("worker1", [&](Env& env) {
        const auto table = env.sinks.open(path, word_counts());
        start(*table, first);
        began = env.now();
        world.stop();
        env.sleep(1us);
        const auto publish = [&] {
          return publish_by(env, *table, {first, 1}, {{"river", 3}, {"mill", 1}});
        };
        told = publish();
        env.sleep(100ms);  // By then the server is back.
        while (publish() == PublishOutcome::unknown) env.sleep(10ms);
      });
      REQUIRE(stage.run() == World::Ended::stopped);
      Draws draws({seed}, Domain::plan, "test");
      stage.at(began + std::chrono::microseconds(draws.below(Site{"test.death"}, 2'500)), [&] {
        if (with_power) {
          world.lose_power(stage.server);
        } else {
          world.kill(stage.server);
        }
        seen = stage.rows();
      });
      stage.at(began + 20ms, [&] { world.start(stage.server); });
      stage.run();

      CAPTURE(seed, with_power);
      CHECK((seen.empty() || seen == all));
      if (told == PublishOutcome::unknown) ++(seen.empty() ? unknown_and_unseen : unknown_and_seen);
      known += told == PublishOutcome::published ? 1 : 0;
      CHECK(stage.rows() == all);
    }

    CAPTURE(with_power, known, unknown_and_seen, unknown_and_unseen);
    CHECK(known > 5);
    CHECK(unknown_and_seen > 3);
    CHECK(unknown_and_unseen > 3);
  }
}

TEST_CASE("a commit in memory fails with the disk, and changes nothing if that cannot be written",
          "[sim][database]") {
  for (const DiskTrouble trouble : {DiskTrouble::error, DiskTrouble::full}) {
    bool failed = false;
    Rows then;
    PublishOutcome told_at_last = PublishOutcome::unknown;
    MemoryStage stage;
    stage.add("worker1", [&](Env& env) {
      const auto table = env.sinks.open(path, word_counts());
      start(*table, first);
      const auto disturbance = stage.world.trouble_disk(stage.server, trouble, {});
      try {
        publish_by(env, *table, {first, 1}, {{"river", 3}});
      } catch (const WorldError&) {
        failed = true;
      }
      then = stage.rows();
      stage.world.end(disturbance);
      told_at_last = publish_by(env, *table, {first, 1}, {{"river", 3}});
    });
    stage.run();

    CHECK(failed);
    CHECK(then.empty());
    CHECK(told_at_last == PublishOutcome::published);
    CHECK(stage.rows() == Rows{"river 3"});
  }
}
