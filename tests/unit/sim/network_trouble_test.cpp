#include <algorithm>
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

// Cuts, resets, slowness, and what happens to frames of control lanes.

namespace {

constexpr NodeId first{0};
constexpr NodeId second{1};
constexpr NodeId third{2};
constexpr Between first_and_second{first, second};

/// What somebody heard, and when each byte came.
struct Hearing {
  std::string text;
  std::vector<Instant> times;
  bool lost = false;
  Instant lost_at;
};

/// Listens, and writes down what one connection brings.
World::Boot hear(Hearing& hearing) {
  return [&hearing](Env& env) {
    const auto connection = accept_one(env);
    connection->bind(env.parker);
    try {
      while (true) {
        char byte = '?';
        if (connection->try_read(std::as_writable_bytes(std::span(&byte, 1))) == 0) {
          env.parker.park_until(Instant::never());
          continue;
        }
        hearing.text += byte;
        hearing.times.push_back(env.now());
      }
    } catch (const ConnectionLost&) {
      hearing.lost = true;
      hearing.lost_at = env.now();
    }
    wait_for_ever(env);
  };
}

/// Connects at 1 ms and says a letter every 10 ms from 10 ms on.
World::Boot say(const std::string& to, const std::string& letters, Lane lane = Lane::data) {
  return [=](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, to, lane);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      sleep_until(env, at_ms(static_cast<std::int64_t>(10 * (i + 1))));
      connection->write(as_bytes(letters.substr(i, 1)), env.in(1s));
    }
    wait_for_ever(env);
  };
}

/// The whole milliseconds at which bytes came.
std::vector<std::int64_t> whole_ms(const Hearing& hearing) {
  std::vector<std::int64_t> ms;
  for (const Instant at : hearing.times) ms.push_back(at.ns / 1'000'000);
  return ms;
}

/// Begins a disturbance at one instant and ends it at another.
template <class Begin>
void from_to(Stage& stage, Instant from, Instant to, Begin begin) {
  stage.at(from, [&stage, to, begin] {
    const Disturbance disturbance = begin(stage.world);
    stage.at(to, [&stage, disturbance] { stage.world.end(disturbance); });
  });
}

}  // namespace

TEST_CASE("what is sent during a cut comes when it ends, whole and in order", "[sim][trouble]") {
  Hearing hearing;
  int effects = 0;
  Instant effect_at;
  Stage stage({7}, even_timings());
  stage.add("first", say("second", "abcdef"));
  stage.add("second", hear(hearing));
  from_to(stage, at_ms(15), at_ms(45), [&](World& world) {
    return world.cut(first_and_second, Way::both, [&] {
      ++effects;
      effect_at = world.now();
    });
  });
  stage.run();

  CHECK(hearing.text == "abcdef");
  CHECK(whole_ms(hearing) == std::vector<std::int64_t>{10, 45, 45, 45, 50, 60});
  CHECK_FALSE(hearing.lost);
  CHECK(effects == 1);  // It was there for 5 ms before anybody could tell.
  CHECK(effect_at == at_us(20'100));
}

TEST_CASE("without a cut everything comes when it is sent", "[sim][trouble]") {
  Hearing hearing;
  Stage stage({7}, even_timings());
  stage.add("first", say("second", "abc"));
  stage.add("second", hear(hearing));
  stage.run();

  CHECK(whole_ms(hearing) == std::vector<std::int64_t>{10, 20, 30});
}

TEST_CASE("what was under way when a cut began waits, and nothing overtakes it", "[sim][trouble]") {
  Hearing hearing;
  Stage stage({7}, even_timings());
  stage.add("first", say("second", "abc"));
  stage.add("second", hear(hearing));
  // "a" is on its way; the cut ends just before "b" is sent, and what was held takes its time.
  from_to(stage, at_us(10'050), at_us(19'980),
          [](World& world) { return world.cut(first_and_second, Way::both, {}); });
  stage.run();

  CHECK(hearing.text == "abc");
  REQUIRE(hearing.times.size() == 3);
  CHECK(hearing.times[0] == at_us(20'080));
  CHECK(hearing.times[1] == at_us(20'100));
}

TEST_CASE("a cut of one way lets the other through", "[sim][trouble]") {
  for (const auto& [way, forth, back] :
       {std::tuple{Way::out, 40, 20}, {Way::in, 20, 40}, {Way::both, 40, 40}}) {
    Hearing there;
    Hearing here;
    Stage stage({7}, even_timings());
    stage.add("first", [&](Env& env) {
      const auto listening = env.tasks.start("hear", hear(here));
      say("second", " a")(env);
    });
    stage.add("second", [&](Env& env) {
      const auto listening = env.tasks.start("hear", hear(there));
      say("first", " b")(env);
    });
    from_to(stage, at_ms(15), at_ms(40),
            [&way = way](World& world) { return world.cut(first_and_second, way, {}); });
    stage.run();

    CAPTURE(static_cast<int>(way));
    CHECK(whole_ms(there) == std::vector<std::int64_t>{10, forth});
    CHECK(whole_ms(here) == std::vector<std::int64_t>{10, back});
  }
}

TEST_CASE("a cut concerns its two nodes, or one and all others, and nobody else",
          "[sim][trouble]") {
  for (const bool from_all : {false, true}) {
    Hearing cut_off;
    Hearing other;
    Hearing within;
    Stage stage({7}, even_timings());
    stage.add("first", [&](Env& env) {
      const auto listening = env.tasks.start("hear", hear(within));
      const auto alone = env.tasks.start("say", say("first", " w"));
      const auto saying = env.tasks.start("say.third", say("third", " t"));
      say("second", " s")(env);
    });
    stage.add("second", hear(cut_off));
    stage.add("third", hear(other));
    from_to(stage, at_ms(15), at_ms(40), [&](World& world) {
      return world.cut({first, from_all ? std::optional<NodeId>{} : second}, Way::both, {});
    });
    stage.run();

    CAPTURE(from_all);
    CHECK(whole_ms(cut_off) == std::vector<std::int64_t>{10, 40});
    CHECK(whole_ms(other) == std::vector<std::int64_t>{10, from_all ? 40 : 20});
    CHECK(whole_ms(within) == std::vector<std::int64_t>{10, 20});
  }
}

TEST_CASE("of two cuts that overlap the last one decides", "[sim][trouble]") {
  Hearing hearing;
  Stage stage({7}, even_timings());
  stage.add("first", say("second", "ab"));
  stage.add("second", hear(hearing));
  from_to(stage, at_ms(15), at_ms(40),
          [](World& world) { return world.cut(first_and_second, Way::both, {}); });
  from_to(stage, at_ms(18), at_ms(60), [](World& world) {
    return world.cut({second, {}}, Way::in, {});
  });
  stage.run();

  CHECK(whole_ms(hearing) == std::vector<std::int64_t>{10, 60});
}

TEST_CASE("a connection does not come about during a cut, and does after it if somebody waits",
          "[sim][trouble]") {
  std::vector<std::string> ends;
  std::vector<Instant> times;
  Stage stage({7}, even_timings());
  stage.add("first", [&](Env& env) {
    for (const Instant deadline : {at_ms(10), at_ms(100)}) {
      try {
        env.network.connect({"second", "test"}, Lane::data, deadline);
        ends.emplace_back("connected");
      } catch (const Unavailable&) {
        ends.emplace_back("no answer");
      }
      times.push_back(env.now());
    }
    wait_for_ever(env);
  });
  stage.add("second", [](Env& env) {
    const auto listener = env.network.listen("test");
    wait_for_ever(env);
  });
  from_to(stage, Instant{}, at_ms(50),
          [](World& world) { return world.cut(first_and_second, Way::out, {}); });
  stage.run();

  CHECK(ends == std::vector<std::string>{"no answer", "connected"});
  CHECK(times == std::vector{at_ms(10), at_us(50'200)});
}

TEST_CASE("a node whose answers are cut off is not connected either", "[sim][trouble]") {
  Instant connected;
  Stage stage({7}, even_timings());
  stage.add("first", [&](Env& env) {
    connect_to(env, "second");
    connected = env.now();
    wait_for_ever(env);
  });
  stage.add("second", [](Env& env) {
    const auto listener = env.network.listen("test");
    wait_for_ever(env);
  });
  from_to(stage, Instant{}, at_ms(50),
          [](World& world) { return world.cut(first_and_second, Way::in, {}); });
  stage.run();

  CHECK(connected == at_us(50'100));
}

TEST_CASE("what a process sent into a cut is lost if it dies before the end", "[sim][trouble]") {
  for (const bool with_power : {false, true}) {
    Hearing hearing;
    Stage stage({7}, even_timings());
    const NodeId sender = stage.add("first", say("second", "abc"));
    stage.add("second", hear(hearing));
    from_to(stage, at_ms(15), at_ms(50),
            [](World& world) { return world.cut(first_and_second, Way::both, {}); });
    stage.at(at_ms(30),
             [&] { with_power ? stage.world.lose_power(sender) : stage.world.kill(sender); });
    stage.run(at_ms(1'000));

    // The news of its death was lost, too: the connection is half open.
    CAPTURE(with_power);
    CHECK(hearing.text == "a");
    CHECK_FALSE(hearing.lost);
  }
}

TEST_CASE("a writer that is cut off waits for room, not for ever", "[sim][trouble]") {
  int written = 0;
  Instant gave_up;
  Timings timings = even_timings();
  timings.window_bytes = 3;
  Stage stage({7}, timings);
  Hearing hearing;
  stage.add("first", [&](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, "second");
    sleep_until(env, at_ms(10));
    while (connection->write(as_bytes("x"), at_ms(30))) ++written;
    gave_up = env.now();
    connection->write(as_bytes("y"), Instant::never());
    wait_for_ever(env);
  });
  stage.add("second", hear(hearing));
  from_to(stage, at_ms(5), at_ms(50),
          [](World& world) { return world.cut(first_and_second, Way::both, {}); });
  stage.run();

  CHECK(written == 3);
  CHECK(gave_up == at_ms(30));
  CHECK(hearing.text == "xxxy");
}

TEST_CASE("a reset takes the connections of two nodes from both, and leaves the others",
          "[sim][trouble]") {
  Hearing there;
  Hearing other;
  Heard at_writer;
  Instant writer_knew;
  std::size_t died = 0;
  Stage stage({7}, even_timings());
  stage.add("first", [&](Env& env) {
    const auto saying = env.tasks.start("say", say("third", "tu"));
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, "second");
    connection->write(as_bytes("a"), env.in(1s));
    at_writer = read_until(env, *connection, at_ms(100));
    writer_knew = env.now();
    wait_for_ever(env);
  });
  stage.add("second", hear(there));
  stage.add("third", hear(other));
  stage.at(at_ms(15), [&] { died = stage.world.reset_connections(first_and_second); });
  stage.run();

  CHECK(died == 1);
  CHECK(at_writer.lost);
  CHECK(writer_knew == at_ms(15));
  CHECK(there.text == "a");
  CHECK(there.lost);
  CHECK(there.lost_at == at_ms(15));
  CHECK(other.text == "tu");
  CHECK_FALSE(other.lost);
}

TEST_CASE("a reset loses what is under way, and a new connection begins afresh", "[sim][trouble]") {
  std::vector<std::string> heard;
  Stage stage({7}, even_timings());
  stage.add("first", [](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, "second");
    connection->write(as_bytes("lost"), env.in(1s));  // Arrives at 1.3 ms, after the reset.
    sleep_until(env, at_ms(5));
    const auto again = connect_to(env, "second");
    again->write(as_bytes("kept"), env.in(1s));
    wait_for_ever(env);
  });
  stage.add("second", [&](Env& env) {
    const auto listener = env.network.listen("test");
    for (int i = 0; i < 2; ++i) {
      const auto connection = accept_one(env, *listener);
      heard.push_back(read_until(env, *connection, env.in(3ms)).text);
    }
    wait_for_ever(env);
  });
  stage.at(at_us(1'250), [&] { stage.world.reset_connections({second, {}}); });
  stage.run();

  CHECK(heard == std::vector<std::string>{"", "kept"});
}

TEST_CASE("where there is no connection there is none to reset", "[sim][trouble]") {
  Hearing hearing;
  Stage stage({7}, even_timings());
  stage.add("first", say("second", "a"));
  stage.add("second", hear(hearing));
  stage.add("third", wait_for_ever);
  stage.run(at_ms(20));

  CHECK(stage.world.reset_connections({third, {}}) == 0);
  CHECK(stage.world.reset_connections({first, third}) == 0);
  CHECK(stage.world.reset_connections({second, first}) == 1);
  CHECK(stage.world.reset_connections({second, first}) == 0);
}

TEST_CASE("a connection that is reset while it comes about is lost to whoever uses it",
          "[sim][trouble]") {
  bool lost = false;
  Stage stage({7}, even_timings());
  stage.add("first", [&](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, "second");  // Accepted at 1.1 ms, known at 1.2.
    connection->write(as_bytes("a"), env.in(1s));
    lost = read_until(env, *connection, at_ms(100)).lost;
    wait_for_ever(env);
  });
  Hearing hearing;
  stage.add("second", hear(hearing));
  stage.at(at_us(1'150), [&] { stage.world.reset_connections(first_and_second); });
  stage.run();

  CHECK(lost);
  CHECK(hearing.lost);
}

TEST_CASE("messages of a slow link come later by so much, and only while it is slow",
          "[sim][trouble]") {
  Hearing hearing;
  int effects = 0;
  Stage stage({7}, even_timings());
  stage.add("first", say("second", "abcd"));
  stage.add("second", hear(hearing));
  from_to(stage, at_ms(15), at_ms(35),
          [&](World& world) { return world.slow(first_and_second, 7ms, [&] { ++effects; }); });
  stage.run();

  CHECK(whole_ms(hearing) == std::vector<std::int64_t>{10, 27, 37, 40});
  CHECK(effects == 1);
}

namespace {

/// What became of 400 frames of a control lane, one every millisecond.
struct FrameCensus {
  int lost = 0;
  int repeated = 0;
  int overtaken = 0;  ///< Came behind one that was sent later.
  int effects = 0;
};
FrameCensus census_of(const FrameChances& chances) {
  constexpr int frames = 400;
  FrameCensus census;
  std::string received;
  Stage stage({7}, even_timings());
  stage.add("first", [&](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, "second", Lane::control);
    for (int i = 0; i < frames; ++i) {
      env.sleep(1ms);
      connection->write(as_bytes(std::to_string(1000 + i)), env.in(1s));
    }
    wait_for_ever(env);
  });
  stage.add("second", [&](Env& env) {
    const auto connection = accept_one(env);
    received = read_until(env, *connection, at_ms(3'000)).text;
    wait_for_ever(env);
  });
  stage.world.disturb_frames(first_and_second, chances, [&] { ++census.effects; });
  stage.run();

  std::vector<int> times(frames, 0);
  int newest = -1;
  for (std::size_t at = 0; at < received.size(); at += 4) {
    const int frame = std::stoi(received.substr(at, 4)) - 1000;
    if (++times[static_cast<std::size_t>(frame)] == 1 && frame < newest) ++census.overtaken;
    newest = std::max(newest, frame);
  }
  for (const int count : times) {
    if (count == 0) ++census.lost;
    if (count == 2) ++census.repeated;
  }
  return census;
}

}  // namespace

TEST_CASE("frames of a control lane are lost, repeated and held, each at its rate",
          "[sim][trouble]") {
  const auto is_a_quarter = [](int count) { return count > 70 && count < 130; };

  const FrameCensus calm = census_of({});
  CHECK(calm.lost + calm.repeated + calm.overtaken + calm.effects == 0);

  const FrameCensus losing = census_of({{1, 4}, {0, 1}, {0, 1}});
  CHECK(is_a_quarter(losing.lost));
  CHECK(losing.repeated + losing.overtaken == 0);
  CHECK(losing.effects == 1);

  const FrameCensus repeating = census_of({{0, 1}, {1, 4}, {0, 1}});
  CHECK(is_a_quarter(repeating.repeated));
  CHECK(repeating.lost + repeating.overtaken == 0);

  const FrameCensus holding = census_of({{0, 1}, {0, 1}, {1, 4}});
  CHECK(is_a_quarter(holding.overtaken));
  CHECK(holding.lost + holding.repeated == 0);

  const FrameCensus all = census_of({{1, 4}, {1, 4}, {1, 4}});
  CHECK(is_a_quarter(all.lost));
  CHECK(all.repeated > 30);
  CHECK(all.overtaken > 30);
}

TEST_CASE("frames of other lanes, of others and of other times are left alone", "[sim][trouble]") {
  for (const Lane lane : {Lane::data, Lane::device}) {
    Hearing hearing;
    Stage stage({7}, even_timings());
    stage.add("first", say("second", "abc", lane));
    stage.add("second", hear(hearing));
    stage.world.disturb_frames({first, {}}, {{1, 1}, {}, {}}, {});
    stage.run();
    CHECK(hearing.text == "abc");
  }
  Hearing hearing;
  Hearing other;
  Stage stage({7}, even_timings());
  stage.add("first", [&](Env& env) {
    const auto saying = env.tasks.start("say", say("third", "abcde", Lane::control));
    say("second", "abcde", Lane::control)(env);
  });
  stage.add("second", hear(hearing));
  stage.add("third", hear(other));
  from_to(stage, at_ms(15), at_ms(35), [](World& world) {
    return world.disturb_frames(first_and_second, {{1, 1}, {}, {}}, {});
  });
  stage.run();
  CHECK(hearing.text == "ade");
  CHECK(other.text == "abcde");
}

TEST_CASE("asking for a disturbance and ending it moves nothing in a run that never meets it",
          "[sim][trouble]") {
  const auto hash_of = [](bool is_disturbed) {
    Hearing hearing;
    Stage stage;
    stage.add("first", say("second", "abc", Lane::control));
    stage.add("second", hear(hearing));
    stage.add("third", wait_for_ever);
    World& world = stage.world;
    std::vector<Disturbance> asked;
    if (is_disturbed) {
      const auto told = [] { throw std::runtime_error("nobody is struck"); };
      const Between elsewhere{third, first};
      asked = {world.cut(elsewhere, Way::both, told),
               world.slow(elsewhere, 1s, told),
               world.disturb_frames(elsewhere, {{1, 1}, {1, 1}, {1, 1}}, told),
               world.trouble_disk(third, DiskTrouble::error, told),
               world.lose_answer(third, "*", told),
               world.at_disk_operation(third, 1, told)};
    }
    stage.run(at_ms(100));
    for (const Disturbance disturbance : asked) world.end(disturbance);
    stage.run();
    return world.trace().hash();
  };
  CHECK(hash_of(true) == hash_of(false));
}
