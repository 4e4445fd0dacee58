#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/sim/store_server.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

// Answers of devices that are lost or late; of the database in database_server_test.cpp.

namespace {

using Words = std::vector<std::string>;

std::string word_of(PutOutcome outcome) {
  return outcome == PutOutcome::stored ? "stored" : "unknown";
}
std::string word_of(SwapOutcome outcome) {
  if (outcome == SwapOutcome::refused) return "refused";
  return outcome == SwapOutcome::stored ? "stored" : "unknown";
}

/// A store, and a client that does what it is given at 10 ms.
struct StoreTrouble {
  explicit StoreTrouble(std::function<void(Env&)> client)
      : stage({7}, even_timings()),
        server(stage.world.add_node(store_node, "store", run_store_server)) {
    stage.world.start(server);
    stage.add("worker1", [client = std::move(client)](Env& env) {
      sleep_until(env, at_ms(10));
      client(env);
      wait_for_ever(env);
    });
  }
  Stage stage;
  NodeId server;
};

std::string head_of(Env& env) {
  return std::string(as_text(env.store.read_register("head", env.in(1s)).bytes));
}

}  // namespace

TEST_CASE("a put or swap whose answer is lost has happened, and its caller does not know",
          "[sim][trouble]") {
  Words told;
  Words found;
  Words effects;
  std::vector<Instant> times;
  StoreTrouble trouble([&](Env& env) {
    told.push_back(word_of(put(env.store, "object", as_bytes("text"), env.in(100ms))));
    times.push_back(env.now());
    found.emplace_back(as_text(*read_whole(env.store, "object", env.in(1s))));
    told.push_back(word_of(put(env.store, "object", as_bytes("text"), env.in(100ms))));
    told.push_back(word_of(env.store.put_if_version("head", 0, as_bytes("mine"), env.in(100ms))));
    found.push_back(head_of(env));
    told.push_back(word_of(env.store.put_if_version("head", 0, as_bytes("mine"), env.in(100ms))));
  });
  for (const std::string operation : {"put", "swap"}) {
    trouble.stage.world.lose_answer(trouble.server, operation,
                                    [&effects, operation] { effects.push_back(operation); });
  }
  trouble.stage.run();

  CHECK(told == Words{"unknown", "stored", "unknown", "refused"});  // Once each.
  CHECK(found == Words{"text", "mine"});
  CHECK(times == std::vector{at_ms(110)});  // The deadline alone tells.
  CHECK(effects == Words{"put", "swap"});
}

TEST_CASE("whoever only asks learns that a lost answer did not come", "[sim][trouble]") {
  for (const std::string operation : {"read", "read_register", "remove", "list", "*"}) {
    Words ends;
    StoreTrouble trouble([&](Env& env) {
      for (int i = 0; i < 2; ++i) {
        try {
          if (operation == "read" || operation == "*") env.store.read("object", 0, 1, env.in(50ms));
          if (operation == "read_register") env.store.read_register("head", env.in(50ms));
          if (operation == "remove") env.store.remove("object", env.in(50ms));
          if (operation == "list") env.store.list("", env.in(50ms));
          ends.emplace_back("answered");
        } catch (const Unavailable&) {
          ends.emplace_back("unavailable");
        }
      }
    });
    trouble.stage.world.lose_answer(trouble.server, operation, {});
    trouble.stage.run();

    CAPTURE(operation);
    CHECK(ends == Words{"unavailable", "answered"});
  }
}

TEST_CASE("an answer that says that nothing has happened is not lost", "[sim][trouble]") {
  Words ends;
  int effects = 0;
  StoreTrouble trouble([&](Env& env) {
    try {
      put(env.store, "object", as_bytes("text"), env.in(100ms));
    } catch (const WorldError&) {
      ends.emplace_back("failed");
    }
    sleep_until(env, at_ms(200));
    ends.push_back(word_of(put(env.store, "object", as_bytes("text"), env.in(100ms))));
  });
  World& world = trouble.stage.world;
  const auto errors = world.trouble_disk(trouble.server, DiskTrouble::error, {});
  world.at(at_ms(150), [&] { world.end(errors); });
  world.lose_answer(trouble.server, "put", [&effects] { ++effects; });
  trouble.stage.run();

  CHECK(ends == Words{"failed", "unknown"});
  CHECK(effects == 1);
}

TEST_CASE("a late swap happens after its caller has given up, if it still fits", "[sim][trouble]") {
  Words told;
  Words found;
  StoreTrouble trouble([&](Env& env) {
    told.push_back(word_of(env.store.put_if_version("head", 0, as_bytes("late"), env.in(100ms))));
    found.push_back(head_of(env));
    sleep_until(env, at_ms(3'000));
    found.push_back(head_of(env));
  });
  trouble.stage.world.delay_answer(trouble.server, "swap", 1s, {});
  trouble.stage.run();

  CHECK(told == Words{"unknown"});
  CHECK(found == Words{"", "late"});  // Reading "not there" settles nothing.
}

TEST_CASE("a late swap is refused when the register has changed meanwhile", "[sim][trouble]") {
  Words told;
  Words found;
  StoreTrouble trouble([&](Env& env) {
    told.push_back(word_of(env.store.put_if_version("head", 0, as_bytes("late"), env.in(100ms))));
    told.push_back(word_of(env.store.put_if_version("head", 0, as_bytes("next"), env.in(100ms))));
    sleep_until(env, at_ms(3'000));
    found.push_back(head_of(env));
  });
  trouble.stage.world.delay_answer(trouble.server, "swap", 1s, {});
  trouble.stage.run();

  CHECK(told == Words{"unknown", "stored"});
  CHECK(found == Words{"next"});
}

TEST_CASE("a late request that its server does not live to see never happens", "[sim][trouble]") {
  Words found;
  StoreTrouble trouble([&](Env& env) {
    put(env.store, "object", as_bytes("text"), env.in(100ms));
    sleep_until(env, at_ms(3'000));
    found.emplace_back(read_whole(env.store, "object", env.in(1s)) ? "there" : "absent");
  });
  World& world = trouble.stage.world;
  world.delay_answer(trouble.server, "put", 1s, {});
  world.at(at_ms(500), [&] { world.kill(trouble.server); });
  world.at(at_ms(600), [&] { world.start(trouble.server); });
  trouble.stage.run();

  CHECK(found == Words{"absent"});
}

TEST_CASE("a trouble that is ended before anybody meets it does nothing", "[sim][trouble]") {
  Words told;
  StoreTrouble trouble([&](Env& env) {
    told.push_back(word_of(put(env.store, "object", as_bytes("text"), env.in(100ms))));
  });
  World& world = trouble.stage.world;
  const auto lost = world.lose_answer(trouble.server, "put", {});
  const auto late = world.delay_answer(trouble.server, "put", 1s, {});
  world.at(at_ms(5), [&] {
    world.end(lost);
    world.end(late);
  });
  trouble.stage.run();

  CHECK(told == Words{"stored"});
}

TEST_CASE("a store that is started on a disk with errors serves when they are over",
          "[sim][trouble]") {
  Words told;
  StoreTrouble trouble([&](Env& env) {
    // A temporary file from before the death: the first thing that a new life does is to remove it.
    told.push_back(word_of(put(env.store, "object", as_bytes("text"), at_ms(11))));
    sleep_until(env, at_ms(100));
    while (true) {
      try {
        told.push_back(word_of(put(env.store, "object", as_bytes("text"), env.in(1s))));
        if (told.back() == "stored") return;
      } catch (const WorldError&) {
        told.emplace_back("failed");
      }
      env.sleep(100ms);
    }
  });
  World& world = trouble.stage.world;
  world.at(at_us(11'500), [&] { world.kill(trouble.server); });
  world.at(at_ms(50), [&] {
    const auto errors = world.trouble_disk(trouble.server, DiskTrouble::error, {});
    world.start(trouble.server);
    world.at(at_ms(500), [&world, errors] { world.end(errors); });
  });
  trouble.stage.run();

  CHECK(told.back() == "stored");
}
