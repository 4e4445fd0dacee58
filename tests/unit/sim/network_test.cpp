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

namespace {

/// How long each of `count` messages between two nodes took, one at a time, in nanoseconds.
std::vector<std::int64_t> latencies(Seed seed, const Timings& timings, std::size_t count,
                                    const std::string& from, const std::string& to) {
  std::vector<std::int64_t> taken;
  Stage stage(seed, timings);
  Instant sent;
  const auto receive = [&](Env& env) {
    const auto connection = accept_one(env);
    for (std::size_t i = 0; i < count; ++i) {
      read(env, *connection, 1);
      taken.push_back((env.now() - sent).count());
      connection->write(as_bytes("b"), env.in(1s));
    }
    wait_for_ever(env);
  };
  stage.add(to, [&](Env& env) {
    const auto receiver = env.tasks.start("receiver", receive);
    if (from != to) wait_for_ever(env);
    env.sleep(1ms);
    const auto connection = connect_to(env, to);
    for (std::size_t i = 0; i < count; ++i) {
      sent = env.now();
      connection->write(as_bytes("a"), env.in(1s));
      read(env, *connection, 1);
    }
    wait_for_ever(env);
  });
  if (from != to) {
    stage.add(from, [&](Env& env) {
      env.sleep(1ms);
      const auto connection = connect_to(env, to);
      for (std::size_t i = 0; i < count; ++i) {
        sent = env.now();
        connection->write(as_bytes("a"), env.in(1s));
        read(env, *connection, 1);
      }
      wait_for_ever(env);
    });
  }
  stage.run();
  return taken;
}

}  // namespace

TEST_CASE("messages between nodes take as long as the timings say", "[sim][network]") {
  Timings timings;
  timings.message = {100us, 200us};
  timings.slow = {0, 1};
  const auto taken = latencies({7}, timings, 4'000, "worker1", "worker2");

  REQUIRE(taken.size() == 4'000);
  const auto [least, most] = std::ranges::minmax_element(taken);
  CHECK(*least >= 100'000);
  CHECK(*least < 101'000);
  CHECK(*most <= 200'000);
  CHECK(*most > 199'000);
  const auto in_lower_half = std::ranges::count_if(taken, [](auto ns) { return ns < 150'000; });
  CHECK(in_lower_half > 1'890);  // 2,000, and three and a half times its spread of 32.
  CHECK(in_lower_half < 2'110);
}

TEST_CASE("messages are slow about as often as the timings say", "[sim][network]") {
  Timings timings;
  timings.message = {100us, 200us};
  timings.slow_message = {1ms, 10ms};
  timings.slow = {1, 50};
  const auto taken = latencies({7}, timings, 10'000, "worker1", "worker2");

  REQUIRE(taken.size() == 10'000);
  const auto slow = std::ranges::count_if(taken, [](auto ns) { return ns > 200'000; });
  CHECK(slow > 150);  // 200, and three and a half times its spread of 14.
  CHECK(slow < 250);
  for (const auto ns : taken) {
    if (ns > 200'000) CHECK((ns >= 1'000'000 && ns <= 10'000'000));
  }
  CHECK(*std::ranges::max_element(taken) > 9'000'000);
}

TEST_CASE("messages within a node are as quick as the timings say, and never slow",
          "[sim][network]") {
  Timings timings;
  timings.local_message = {2us, 10us};
  timings.slow = {1, 2};
  const auto taken = latencies({7}, timings, 2'000, "worker1", "worker1");

  REQUIRE(taken.size() == 2'000);
  CHECK(*std::ranges::min_element(taken) >= 2'000);
  CHECK(*std::ranges::max_element(taken) <= 10'000);
}

TEST_CASE("messages take the least time when all is quiet", "[sim][network]") {
  Timings timings;
  timings.slow = {999, 1000};
  const auto taken = latencies({7, true}, timings, 50, "worker1", "worker2");

  CHECK(taken == std::vector<std::int64_t>(50, 100'000));
}

TEST_CASE("a connection keeps order whatever the latencies, and others overtake it",
          "[sim][network]") {
  constexpr int count = 500;
  std::vector<std::vector<int>> received(2);
  std::vector<int> all;
  Timings timings;
  timings.message = {1us, 10ms};
  Stage stage({7}, timings);
  stage.add("worker1", [&](Env& env) {
    const auto listener = env.network.listen("test");
    std::vector<std::shared_ptr<Connection>> connections;
    std::vector<std::unique_ptr<RunningTask>> readers;
    for (std::size_t i = 0; i < received.size(); ++i) {
      connections.push_back(accept_one(env, *listener));
      readers.push_back(env.tasks.start("reader." + std::to_string(i), [&, i](Env& own) {
        for (int n = 0; n < count; ++n) {
          const auto text = read(own, *connections[i], sizeof(int));
          received[i].push_back(Decoder(as_bytes(text)).number<int>());
          all.push_back(received[i].back());
        }
      }));
    }
    for (const auto& reader : readers) reader->join(Instant::never());
  });
  stage.add("worker2", [&](Env& env) {
    env.sleep(1ms);
    const auto left = connect_to(env, "worker1");
    const auto right = connect_to(env, "worker1");
    for (int n = 0; n < count; ++n) {
      Encoder out;
      out.number(n);
      left->write(out.view(), env.in(1s));
      right->write(out.view(), env.in(1s));
      env.sleep(100us);
    }
    wait_for_ever(env);
  });
  stage.run();

  std::vector<int> expected;
  for (int n = 0; n < count; ++n) expected.push_back(n);
  CHECK(received[0] == expected);
  CHECK(received[1] == expected);
  CHECK_FALSE(std::ranges::is_sorted(all));
}

TEST_CASE("one more conversation moves none of the others", "[sim][network]") {
  const auto arrivals = [](bool with_another) {
    std::vector<Instant> seen;
    Stage stage;
    stage.add("a", [&](Env& env) {
      const auto connection = accept_one(env);
      for (int i = 0; i < 50; ++i) {
        read(env, *connection, 1);
        seen.push_back(env.now());
      }
      wait_for_ever(env);
    });
    if (with_another) {
      stage.add("c", [](Env& env) {
        const auto connection = accept_one(env);
        read(env, *connection, 50);
        wait_for_ever(env);
      });
    }
    for (const auto& [from, to] : {std::pair{"d", "c"}, {"b", "a"}}) {
      if (to == std::string("c") && !with_another) continue;
      stage.add(from, [server = std::string(to)](Env& env) {
        env.sleep(1ms);
        const auto connection = connect_to(env, server);
        for (int i = 0; i < 50; ++i) {
          connection->write(as_bytes("x"), env.in(1s));
          env.sleep(1ms);
        }
        wait_for_ever(env);
      });
    }
    stage.run();
    return seen;
  };

  const auto alone = arrivals(false);
  REQUIRE(alone.size() == 50);
  CHECK(arrivals(true) == alone);
}

TEST_CASE("a writer waits when the window is full, and goes on when somebody reads",
          "[sim][network]") {
  Timings timings = even_timings();
  timings.window_bytes = 1'000;
  int written = 0;
  Instant gave_up;
  bool fits_later = false;
  Instant fitted;
  Stage stage({7}, timings);
  stage.add("worker1", [&](Env& env) {
    const auto connection = accept_one(env);
    sleep_until(env, at_ms(50));
    read(env, *connection, 100);  // Room for one frame.
    wait_for_ever(env);
  });
  stage.add("worker2", [&](Env& env) {
    env.sleep(1ms);
    const auto connection = connect_to(env, "worker1");
    const std::string frame(100, 'x');
    while (connection->write(as_bytes(frame), at_ms(20))) ++written;
    gave_up = env.now();
    fits_later = connection->write(as_bytes(frame), at_ms(100));
    fitted = env.now();
    wait_for_ever(env);
  });
  stage.run();

  CHECK(written == 10);
  CHECK(gave_up == at_ms(20));  // At its deadline, to the nanosecond.
  CHECK(fits_later);
  CHECK(fitted == at_ms(50));
}

TEST_CASE("a frame larger than the window goes when the window is empty", "[sim][network]") {
  Timings timings = even_timings();
  timings.window_bytes = 1'000;
  bool went_first = false;
  bool went_behind_another = true;
  Stage stage({7}, timings);
  stage.add("worker1", [](Env& env) {
    const auto listener = env.network.listen("test");
    const auto one = accept_one(env, *listener);
    const auto other = accept_one(env, *listener);
    wait_for_ever(env);
  });
  stage.add("worker2", [&](Env& env) {
    env.sleep(1ms);
    const std::string large(5'000, 'x');
    const auto one = connect_to(env, "worker1");
    went_first = one->write(as_bytes(large), env.in(1ms));
    const auto other = connect_to(env, "worker1");
    other->write(as_bytes("x"), env.in(1ms));
    went_behind_another = other->write(as_bytes(large), env.in(1ms));
    wait_for_ever(env);
  });
  stage.run();

  CHECK(went_first);
  CHECK_FALSE(went_behind_another);
}

TEST_CASE("an attempt to connect takes a message each way, also when it is refused",
          "[sim][network]") {
  Instant connected;
  Instant refused;
  Stage stage({7}, even_timings());
  stage.add("worker1", [](Env& env) {
    const auto listener = env.network.listen("test");
    wait_for_ever(env);
  });
  stage.add("worker2", [&](Env& env) {
    sleep_until(env, at_ms(1));
    const auto connection = connect_to(env, "worker1");
    connected = env.now();
    sleep_until(env, at_ms(2));
    CHECK(env.network.connect({"worker1", "nothing"}, Lane::data, env.in(1s)) == nullptr);
    refused = env.now();
  });
  stage.run();

  CHECK(connected == at_us(1'200));
  CHECK(refused == at_us(2'200));
}
