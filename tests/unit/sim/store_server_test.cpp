#include "millrace/sim/store_server.hpp"

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

namespace {

/// A stage with an object store that is up.
class StoreStage : public Stage {
 public:
  explicit StoreStage(Seed seed = {7}, const Timings& timings = Timings{})
      : Stage(seed, timings), server(world.add_node(store_node, "store", run_store_server)) {
    world.start(server);
  }
  NodeId server;
};

std::string long_text(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ",";
  return text;
}

/// The object, from a server that may have been started again since the last call: a connection
/// that was lost meanwhile costs the first attempt.
std::optional<Bytes> read_after_restart(Env& env, std::string_view name) {
  try {
    return read_whole(env.store, name, env.in(1s));
  } catch (const Unavailable&) {
    return read_whole(env.store, name, env.in(1s));
  }
}

/// What a client was told of a put during which the server died, and what it found afterwards.
struct Interrupted {
  PutOutcome told = PutOutcome::unknown;
  std::optional<Bytes> found;
};
Interrupted put_while_server_dies(std::uint64_t seed, const std::string& text, bool with_power) {
  Interrupted put_end;
  StoreStage stage({seed});
  World& world = stage.world;
  stage.add("worker1", [&](Env& env) {
    sleep_until(env, at_ms(10));
    put_end.told = put(env.store, "1.1/window.0", as_bytes(text), env.in(30ms));
    sleep_until(env, at_ms(200));
    put_end.found = read_after_restart(env, "1.1/window.0");
  });
  Draws draws({seed}, Domain::plan, "test");
  const auto death = at_ms(10) + std::chrono::microseconds(draws.below(Site{"test.death"}, 15'000));
  stage.at(death, [&] {
    if (with_power) {
      world.lose_power(stage.server);
    } else {
      world.kill(stage.server);
    }
  });
  stage.at(at_ms(100), [&] { world.start(stage.server); });
  stage.run();
  return put_end;
}

}  // namespace

TEST_CASE("tasks of all nodes share what is in the store", "[sim][store]") {
  std::string found;
  std::vector<std::string> names;
  Instant stored;
  StoreStage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    put(env.store, "1.1/a", as_bytes("text"), env.in(1s));
    stored = env.now();
  });
  stage.add("worker2", [&](Env& env) {
    sleep_until(env, at_ms(50));
    found = std::string(as_text(*read_whole(env.store, "1.1/a", env.in(1s))));
    names = env.store.list("", env.in(1s));
  });
  stage.run();

  CHECK(found == "text");
  CHECK(names == std::vector<std::string>{"1.1/a"});
  CHECK(stored > at_us(1'400));  // Four messages, and syncs of a directory, a file, a directory.
}

TEST_CASE("what was stored outlives any loss of power", "[sim][store]") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::optional<Bytes> object;
    Versioned head;
    StoreStage stage({seed});
    World& world = stage.world;
    stage.add("worker1", [&](Env& env) {
      const auto put_outcome = put(env.store, "object", as_bytes("text"), env.in(1s));
      const auto swapped = env.store.put_if_version("head", 0, as_bytes("one"), env.in(1s));
      if (put_outcome != PutOutcome::stored || swapped != SwapOutcome::stored) return;
      world.stop();
      sleep_until(env, at_ms(500));
      object = read_after_restart(env, "object");
      head = env.store.read_register("head", env.in(1s));
    });
    REQUIRE(stage.run() == World::Ended::stopped);
    world.lose_power(stage.server);
    world.start(stage.server);
    stage.run();

    CAPTURE(seed);
    REQUIRE(object.has_value());
    CHECK(as_text(*object) == "text");
    CHECK(head.version == 1);
    CHECK(as_text(head.bytes) == "one");
  }
}

TEST_CASE("a server that dies in the middle of a put leaves the object whole or absent",
          "[sim][store]") {
  const std::string text = long_text(100'000);
  for (const bool with_power : {false, true}) {
    int stored = 0;
    int unknown_and_there = 0;
    int unknown_and_absent = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      const Interrupted put_end = put_while_server_dies(seed, text, with_power);

      CAPTURE(seed, with_power);
      const bool is_there = put_end.found.has_value();
      if (is_there) CHECK((as_text(*put_end.found) == text));
      if (put_end.told == PutOutcome::stored) {
        CHECK(is_there);
        ++stored;
      } else {
        ++(is_there ? unknown_and_there : unknown_and_absent);
      }
    }

    CAPTURE(with_power, stored, unknown_and_there, unknown_and_absent);
    CHECK(stored > 10);
    CHECK(unknown_and_there > 2);
    CHECK(unknown_and_absent > 10);
  }
}

TEST_CASE("a client learns at its deadline that a dark store does not answer", "[sim][store]") {
  std::vector<std::string> ends;
  std::vector<Instant> times;
  StoreStage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    sleep_until(env, at_ms(10));
    stage.world.lose_power(stage.server);
    const auto told = put(env.store, "object", as_bytes("text"), at_ms(20));
    ends.emplace_back(told == PutOutcome::unknown ? "unknown" : "stored");
    times.push_back(env.now());
    const auto swapped = env.store.put_if_version("head", 0, as_bytes("one"), at_ms(30));
    ends.emplace_back(swapped == SwapOutcome::unknown ? "unknown" : "stored or refused");
    times.push_back(env.now());
    try {
      env.store.read("object", 0, 1, at_ms(40));
    } catch (const Unavailable&) {
      ends.emplace_back("unavailable");
    }
    times.push_back(env.now());
  });
  stage.run();

  CHECK(ends == std::vector<std::string>{"unknown", "unknown", "unavailable"});
  CHECK(times == std::vector{at_ms(20), at_ms(30), at_ms(40)});
}

TEST_CASE("a swap whose answer was lost is found to be stored or not by repeating it",
          "[sim][store]") {
  int took_effect = 0;
  int did_not = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SwapOutcome first = SwapOutcome::stored;
    SwapOutcome second = SwapOutcome::unknown;
    Versioned found;
    StoreStage stage({seed});
    World& world = stage.world;
    stage.add("worker1", [&](Env& env) {
      sleep_until(env, at_ms(10));
      first = env.store.put_if_version("head", 0, as_bytes("mine"), env.in(1s));
      sleep_until(env, at_ms(200));
      while (second == SwapOutcome::unknown) {
        second = env.store.put_if_version("head", 0, as_bytes("mine"), env.in(1s));
      }
      found = env.store.read_register("head", env.in(1s));
    });
    Draws draws({seed}, Domain::plan, "test");
    stage.at(at_ms(10) + std::chrono::microseconds(draws.below(Site{"test.death"}, 10'000)),
             [&] { world.kill(stage.server); });
    stage.at(at_ms(100), [&] { world.start(stage.server); });
    stage.run();

    CAPTURE(seed);
    CHECK(found.version == 1);
    CHECK(as_text(found.bytes) == "mine");
    if (first == SwapOutcome::stored) CHECK(second == SwapOutcome::refused);
    if (first != SwapOutcome::unknown) continue;
    ++(second == SwapOutcome::refused ? took_effect : did_not);
  }

  CHECK(took_effect > 5);
  CHECK(did_not > 5);
}
