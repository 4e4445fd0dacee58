#include "millrace/sim/log_server.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

/// A stage with a log of one partition, `a.jsonl`, that is up. `arrivals` stands before it.
class LogStage : public Stage {
 public:
  LogStage(const std::string& text, const Arrivals& arrivals, Seed seed = {7},
           const Timings& timings = Timings{})
      : Stage(seed, timings), server(world.add_node(log_node, "log", [&arrivals](Env& env) {
          run_log_server(env, arrivals);
        })) {
    world.disk_of(server).install("log/a.jsonl", as_bytes(text));
    world.start(server);
  }
  NodeId server;
};

struct Got {
  std::string line;
  Instant at;
};

/// Reads until the end, and keeps when it got what. Looks again after `look_every` at the latest.
std::vector<Got> read_all(Env& env, std::int64_t end,
                          std::chrono::nanoseconds look_every = 1'000s) {
  std::vector<Got> got;
  const auto reader = env.log.open("log/*", "a.jsonl", {}, end);
  reader->bind(env.parker);
  while (!reader->at_end()) {
    const auto entries = reader->try_read(10);
    for (const LogEntry& entry : entries) got.push_back({std::string(entry.bytes), env.now()});
    if (entries.empty() && !reader->at_end()) env.parker.park_until(env.in(look_every));
  }
  return got;
}

/// Whether each of the lines came in the first `late` after it had arrived.
void check_times(const std::vector<Got>& got, const std::vector<Instant>& arrived,
                 std::chrono::nanoseconds late) {
  REQUIRE(got.size() == arrived.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i, got[i].at.ns, arrived[i].ns);
    CHECK(got[i].at >= arrived[i]);
    CHECK(got[i].at < arrived[i] + late);
  }
}

}  // namespace

TEST_CASE("what has arrived of a partition is seen, and when more comes is known", "[sim][log]") {
  Arrivals arrivals;
  arrivals.set("a", {{at_ms(10), 100}, {at_ms(20), 200}, {at_ms(30), 300}});

  CHECK(arrivals.visible("a", at_ms(0), 300) == 0);
  CHECK(arrivals.visible("a", {at_ms(10).ns - 1}, 300) == 0);
  CHECK(arrivals.visible("a", at_ms(10), 300) == 100);
  CHECK(arrivals.visible("a", at_ms(19), 300) == 100);
  CHECK(arrivals.visible("a", at_ms(20), 300) == 200);
  CHECK(arrivals.visible("a", at_ms(30), 300) == 300);
  CHECK(arrivals.visible("a", at_ms(20), 150) == 150);    // Never beyond what the reader wants.
  CHECK(arrivals.visible("a", at_ms(30), 1000) == 1000);  // After the last step all of it is there.

  CHECK(arrivals.next("a", at_ms(0)) == at_ms(10));
  CHECK(arrivals.next("a", at_ms(10)) == at_ms(20));
  CHECK(arrivals.next("a", at_ms(30)) == Instant::never());
}

TEST_CASE("a partition without steps is there from the start", "[sim][log]") {
  Arrivals arrivals;
  CHECK(arrivals.visible("a", Instant{0}, 300) == 300);
  CHECK(arrivals.next("a", Instant{0}) == Instant::never());
  CHECK(arrivals.last() == Instant{0});

  arrivals.set("b", {{at_ms(10), 100}});
  arrivals.set("c", {{at_ms(5), 100}, {at_ms(30), 200}});
  CHECK(arrivals.visible("a", Instant{0}, 300) == 300);
  CHECK(arrivals.last() == at_ms(30));
}

TEST_CASE("a reader gets entries when they arrive, and not before", "[sim][log]") {
  const std::string text = "one\ntwo\nthree\n";
  Arrivals arrivals;
  arrivals.set("a.jsonl", {{at_ms(50), 4}, {at_ms(200), 8}, {at_ms(205), 14}});
  std::vector<Got> got;
  LogStage stage(text, arrivals, {7}, even_timings());
  stage.add("worker1", [&](Env& env) { got = read_all(env, 14); });
  stage.run();

  // The request waits at the server; the answer needs one message.
  check_times(got, {at_ms(50), at_ms(200), at_ms(205)}, 1ms);
  CHECK(got[0].line == "one");
  CHECK(got[1].line == "two");
  CHECK(got[2].line == "three");
}

TEST_CASE("a reader that looks again gets what comes long after it first asked", "[sim][log]") {
  const std::string text = "one\ntwo\n";
  Arrivals arrivals;
  arrivals.set("a.jsonl", {{at_ms(900), 4}, {at_ms(5'000), 8}});
  std::vector<Got> got;
  LogStage stage(text, arrivals, {7}, even_timings());
  stage.add("worker1", [&](Env& env) { got = read_all(env, 8, 10ms); });
  stage.run();

  check_times(got, {at_ms(900), at_ms(5'000)}, 11ms);
}

TEST_CASE("a reader of what is there already reads to the end at once", "[sim][log]") {
  std::string text;
  for (int i = 0; i < 2'000; ++i) text += std::to_string(i) + "\n";
  const Arrivals arrivals;
  std::vector<Got> got;
  std::vector<PartitionFacts> found;
  LogStage stage(text, arrivals);
  stage.add("worker1", [&](Env& env) {
    found = env.log.partitions("log/*", env.in(1s));
    got = read_all(env, found.front().end);
  });
  stage.run();

  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "a.jsonl");
  CHECK(found[0].end == static_cast<std::int64_t>(text.size()));
  REQUIRE(got.size() == 2'000);
  CHECK(got.front().line == "0");
  CHECK(got.back().line == "1999");
}

TEST_CASE("a reader of an empty partition is at its end", "[sim][log]") {
  const Arrivals arrivals;
  std::vector<Got> got{{"?", {}}};
  LogStage stage("", arrivals);
  stage.add("worker1", [&](Env& env) { got = read_all(env, 0); });
  stage.run();

  CHECK(got.empty());
}

TEST_CASE("a reader whose server dies learns that the world has failed", "[sim][log]") {
  Arrivals arrivals;
  arrivals.set("a.jsonl", {{at_ms(5'000), 4}});
  bool failed = false;
  Instant at;
  LogStage stage("one\n", arrivals, {7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    try {
      read_all(env, 4);
    } catch (const WorldError&) {
      failed = true;
      at = env.now();
    }
  });
  stage.at(at_ms(50), [&] { stage.world.kill(stage.server); });
  stage.run();

  CHECK(failed);
  CHECK(at == at_us(50'100));
}

TEST_CASE("a reader that looks again learns after five seconds that its server is silent",
          "[sim][log]") {
  Arrivals arrivals;
  arrivals.set("a.jsonl", {{at_ms(20'000), 4}});
  bool failed = false;
  Instant at;
  LogStage stage("one\n", arrivals, {7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    const auto reader = env.log.open("log/*", "a.jsonl", {}, 4);
    try {
      while (true) {
        reader->try_read(10);
        env.sleep(10ms);
      }
    } catch (const Unavailable&) {
      failed = true;
      at = env.now();
    }
  });
  stage.at(at_ms(50), [&] { stage.world.pause(stage.server); });
  stage.run();

  CHECK(failed);
  CHECK(at > at_ms(5'000));
  CHECK(at < at_ms(5'100));
}
