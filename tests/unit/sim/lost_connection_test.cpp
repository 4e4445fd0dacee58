#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

#include "conversation.hpp"
#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

// What the death of a node does to its connections, and what the other side learns of it.

namespace {

/// How an attempt to connect ended, and when.
struct Attempt {
  enum class End { connected, refused, no_answer } end = End::connected;
  Instant at;
};

Attempt try_to_connect(Env& env, const std::string& node, Instant deadline) {
  try {
    const auto connection = env.network.connect({node, "test"}, Lane::data, deadline);
    return {connection != nullptr ? Attempt::End::connected : Attempt::End::refused, env.now()};
  } catch (const Unavailable&) {
    return {Attempt::End::no_answer, env.now()};
  }
}

/// Takes every connection to service `test`, and keeps it without reading.
void accept_all(Env& env) {
  const auto listener = env.network.listen("test");
  std::vector<std::unique_ptr<Connection>> accepted;
  while (true) accepted.push_back(accept_one(env, *listener));
}

}  // namespace

TEST_CASE("the death of a process resets its connections", "[sim][network]") {
  Heard heard;
  Instant heard_at;
  Stage stage({7}, even_timings());
  const NodeId server = stage.add("server", accept_all);
  stage.add("client", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    heard = read_until(env, *connection, at_ms(100));
    heard_at = env.now();
  });
  stage.at(at_ms(10), [&] { stage.world.kill(server); });
  stage.run();

  CHECK(heard.lost);
  CHECK(heard_at == at_us(10'100));  // The news travels like any message.
}

TEST_CASE("the death of a client resets the connection at its server", "[sim][network]") {
  Heard heard;
  Stage stage({7}, even_timings());
  stage.add("server", [&](Env& env) {
    const auto connection = accept_one(env);
    heard = read_until(env, *connection, at_ms(100));
  });
  const NodeId client = stage.add("client", [](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    wait_for_ever(env);
  });
  stage.at(at_ms(10), [&] { stage.world.kill(client); });
  stage.run();

  CHECK(heard.lost);
}

TEST_CASE("a reset loses what arrived before it and was not read", "[sim][network]") {
  Heard heard;
  Stage stage({7}, even_timings());
  const NodeId server = stage.add("server", [](Env& env) {
    const auto connection = accept_one(env);
    connection->write(as_bytes("too late"), env.in(1s));
    wait_for_ever(env);
  });
  stage.add("client", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    sleep_until(env, at_ms(20));
    heard = read_until(env, *connection, at_ms(100));
  });
  stage.at(at_ms(10), [&] { stage.world.kill(server); });
  stage.run();

  CHECK(heard.lost);
  CHECK(heard.text.empty());
}

TEST_CASE("what a process sent before it died is still read if it is read in time",
          "[sim][network]") {
  Heard heard;
  Stage stage({7}, even_timings());
  const NodeId server = stage.add("server", [](Env& env) {
    const auto connection = accept_one(env);
    connection->write(as_bytes("in time"), env.in(1s));
    wait_for_ever(env);
  });
  stage.add("client", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    heard = read_until(env, *connection, at_ms(100));
  });
  stage.at(at_ms(10), [&] { stage.world.kill(server); });
  stage.run();

  CHECK(heard.lost);
  CHECK(heard.text == "in time");
}

TEST_CASE("a writer that waits for a process that dies is woken", "[sim][network]") {
  bool lost = false;
  Instant lost_at;
  Timings timings = even_timings();
  timings.window_bytes = 10;
  Stage stage({7}, timings);
  const NodeId server = stage.add("server", accept_all);
  stage.add("client", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    try {
      while (true) connection->write(as_bytes("0123456789"), Instant::never());
    } catch (const ConnectionLost&) {
      lost = true;
      lost_at = env.now();
    }
  });
  stage.at(at_ms(10), [&] { stage.world.kill(server); });
  stage.run();

  CHECK(lost);
  CHECK(lost_at == at_us(10'100));
}

TEST_CASE(
    "nobody listens on a node whose process is dead, nor after a restart that does not listen",
    "[sim][network]") {
  std::vector<Attempt::End> ends;
  Stage stage({7}, even_timings());
  World& world = stage.world;
  const NodeId server = stage.add("server", [&](Env& env) {
    if (world.life_of({0}) == 2) wait_for_ever(env);
    accept_all(env);
  });
  stage.add("client", [&](Env& env) {
    for (const std::int64_t ms : {1, 11, 21, 31}) {
      sleep_until(env, at_ms(ms));
      ends.push_back(try_to_connect(env, "server", env.in(5ms)).end);
    }
  });
  stage.at(at_ms(10), [&] { world.kill(server); });
  stage.at(at_ms(20), [&] { world.start(server); });
  stage.at(at_ms(30), [&] {
    world.kill(server);
    world.start(server);
  });
  stage.run();

  using End = Attempt::End;
  CHECK(ends == std::vector{End::connected, End::refused, End::refused, End::connected});
}

TEST_CASE("a machine without power answers nothing", "[sim][network]") {
  Attempt attempt;
  Heard heard;
  bool written = false;
  Stage stage({7}, even_timings());
  const NodeId server = stage.add("server", accept_all);
  stage.add("client", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    sleep_until(env, at_ms(11));
    written = connection->write(as_bytes("is anybody there?"), env.in(1ms));
    heard = read_until(env, *connection, at_ms(1'000));
    attempt = try_to_connect(env, "server", at_ms(2'000));
  });
  stage.at(at_ms(10), [&] { stage.world.lose_power(server); });
  stage.run();

  CHECK(written);  // The connection is half open, and its writer does not know.
  CHECK_FALSE(heard.lost);
  CHECK(attempt.end == Attempt::End::no_answer);
  CHECK(attempt.at == at_ms(2'000));  // The deadline alone decides.
}

TEST_CASE("a machine that is back resets the connections that it does not know", "[sim][network]") {
  Heard silence;
  Heard heard;
  Stage stage({7}, even_timings());
  World& world = stage.world;
  const NodeId server = stage.add("server", accept_all);
  stage.add("client", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    silence = read_until(env, *connection, at_ms(50));  // Whoever only reads is told nothing.
    connection->write(as_bytes("are you still there?"), env.in(1ms));
    heard = read_until(env, *connection, at_ms(100));
  });
  stage.at(at_ms(10), [&] { world.lose_power(server); });
  stage.at(at_ms(20), [&] { world.start(server); });
  stage.run();

  CHECK_FALSE(silence.lost);
  CHECK(heard.lost);
}

TEST_CASE("what travels to a machine that loses power is lost", "[sim][network]") {
  Heard heard;
  Stage stage({7}, even_timings());
  World& world = stage.world;
  const NodeId server = stage.add("server", [&](Env& env) {
    const auto connection = accept_one(env);
    heard = read_until(env, *connection, at_ms(100));
  });
  stage.add("client", [](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "server");
    sleep_until(env, at_us(9'950));
    connection->write(as_bytes("lost"), env.in(1s));  // Would arrive at 10.05 ms.
    wait_for_ever(env);
  });
  stage.at(at_ms(10), [&] { world.lose_power(server); });
  stage.at(at_us(10'010), [&] { world.start(server); });
  stage.run();

  CHECK(heard.text.empty());
}

TEST_CASE("a client that gave up is not connected by a late answer", "[sim][network]") {
  Attempt attempt;
  Heard heard;
  heard.lost = false;
  Timings timings = even_timings();
  timings.message = {5ms, 5ms};
  Stage stage({7}, timings);
  stage.add("server", [&](Env& env) {
    const auto connection = accept_one(env);
    heard = read_until(env, *connection, at_ms(100));
  });
  stage.add("client", [&](Env& env) {
    sleep_until(env, at_ms(1));
    attempt = try_to_connect(env, "server", at_ms(8));  // The answer comes at 11 ms.
    wait_for_ever(env);
  });
  stage.run();

  CHECK(attempt.end == Attempt::End::no_answer);
  CHECK(attempt.at == at_ms(8));
  CHECK(heard.lost);  // The server's end hears that nobody wants it.
}

TEST_CASE("a client that dies while it connects leaves no half-open connection behind",
          "[sim][network]") {
  Heard heard;
  Timings timings = even_timings();
  timings.message = {5ms, 5ms};
  Stage stage({7}, timings);
  stage.add("server", [&](Env& env) {
    const auto connection = accept_one(env);
    heard = read_until(env, *connection, at_ms(100));
  });
  const NodeId client = stage.add("client", [](Env& env) {
    sleep_until(env, at_ms(1));
    connect_to(env, "server");
  });
  stage.at(at_ms(8), [&] { stage.world.kill(client); });
  stage.run();

  CHECK(heard.lost);
}
