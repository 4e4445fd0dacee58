#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/channel.hpp"
#include "millrace/env/error.hpp"

#include "worlds.hpp"

using namespace millrace;
using millrace::conformance::in_every_world;

namespace {

template <class T>
T take(Channel<T>& channel, Env& env) {
  while (true) {
    if (auto value = channel.try_take()) return std::move(*value);
    env.parker.park_until(Instant::never());
  }
}

}  // namespace

TEST_CASE("a channel keeps order however little room it has", "[conformance][channel]") {
  in_every_world([](Env& env) {
    for (const std::size_t room : {1, 2, 64}) {
      Channel<int> channel(room);
      channel.bind(env.parker);
      const auto producer = env.tasks.start("producer", [&](Env& own) {
        for (int i = 0; i < 1'000; ++i) channel.put(i, own.parker);
      });

      bool in_order = true;
      for (int i = 0; i < 1'000; ++i) in_order &= take(channel, env) == i;

      CHECK(producer->join(Instant::never()));
      CHECK(in_order);
      CHECK(channel.empty());
    }
  });
}

TEST_CASE("a wait inside of a call gives back the wake-up that it took", "[conformance][channel]") {
  in_every_world([](Env& env) {
    // The order comes while the task waits for room elsewhere. It has looked for orders already,
    // and will park without looking again.
    Channel<int> orders(4);
    Channel<int> full(1);
    orders.bind(env.parker);
    int one = 1;
    full.try_put(one);
    const auto other = env.tasks.start("other", [&](Env& own) {
      orders.put(7, own.parker);
      own.sleep(std::chrono::milliseconds(1));
      full.try_take();
    });

    full.put(2, env.parker);
    CHECK(env.parker.park_until(Instant::never()));
    CHECK(orders.try_take() == 7);
    CHECK(other->join(Instant::never()));
  });
}

TEST_CASE("what several tasks put is taken once, in the order of each", "[conformance][channel]") {
  in_every_world([](Env& env) {
    constexpr int producers = 3;
    constexpr int values = 300;
    Channel<std::pair<int, int>> channel(2);
    channel.bind(env.parker);
    std::vector<std::unique_ptr<RunningTask>> tasks;
    for (int p = 0; p < producers; ++p) {
      tasks.push_back(env.tasks.start("producer." + std::to_string(p), [&channel, p](Env& own) {
        for (int i = 0; i < values; ++i) channel.put({p, i}, own.parker);
      }));
    }

    std::vector<int> next(producers, 0);
    bool in_order = true;
    for (int i = 0; i < producers * values; ++i) {
      const auto [p, value] = take(channel, env);
      in_order &= next[static_cast<std::size_t>(p)]++ == value;
    }

    for (const auto& task : tasks) CHECK(task->join(Instant::never()));
    CHECK(in_order);
    CHECK(std::ranges::count(next, values) == producers);
  });
}

TEST_CASE("a task that waits for room can be cancelled", "[conformance][channel]") {
  in_every_world([](Env& env) {
    Channel<int> channel(1);
    channel.bind(env.parker);
    bool cancelled = false;
    const auto producer = env.tasks.start("producer", [&](Env& own) {
      channel.put(1, own.parker);
      try {
        channel.put(2, own.parker);
      } catch (const Cancelled&) {
        cancelled = true;
      }
    });
    while (channel.empty()) env.parker.park_until(Instant::never());

    producer->cancel();

    REQUIRE(producer->join(Instant::never()));
    CHECK(cancelled);
    CHECK(channel.try_take() == 1);
    CHECK(channel.empty());  // The value that met the cancellation was not put.
  });
}
