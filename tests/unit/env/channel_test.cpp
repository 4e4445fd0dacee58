#include "millrace/env/channel.hpp"

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

/// Counts what wakes it; never waits.
class CountingParker final : public Parker {
 public:
  bool park_until(Instant) override { return true; }
  void unpark() override { ++unparked; }
  void step(Site) override {}
  int unparked = 0;
};

}  // namespace

TEST_CASE("a channel keeps order and refuses what it has no room for", "[env][channel]") {
  Channel<int> channel(2);
  int one = 1;
  int two = 2;
  int three = 3;

  CHECK(channel.try_put(one));
  CHECK(channel.try_put(two));
  CHECK_FALSE(channel.try_put(three));
  CHECK(three == 3);  // What was not put is still the caller's.
  CHECK(channel.try_take() == 1);
  CHECK(channel.try_put(three));
  CHECK(channel.try_take() == 2);
  CHECK(channel.try_take() == 3);
  CHECK(channel.try_take() == std::nullopt);
}

TEST_CASE("a channel keeps order while it grows", "[env][channel]") {
  Channel<int> channel(100);
  int put = 0;
  int taken = 0;
  for (int round = 0; round < 12; ++round) {
    for (int value = put + 10; put < value; ++put) {
      int next = put;
      REQUIRE(channel.try_put(next));
    }
    for (int i = 0; i < 3; ++i) REQUIRE(channel.try_take() == taken++);
  }
  while (taken < put) REQUIRE(channel.try_take() == taken++);
  CHECK(channel.empty());
}

TEST_CASE("a channel wakes the consumer when it stops being empty", "[env][channel]") {
  Channel<int> channel(4);
  CountingParker consumer;
  int value = 1;
  channel.try_put(value);

  channel.bind(consumer);
  CHECK(consumer.unparked == 1);  // What was put before the consumer came is announced.
  channel.try_put(value);
  CHECK(consumer.unparked == 1);  // It knows already that there is something.
  channel.try_take();
  channel.try_take();
  channel.try_put(value);
  CHECK(consumer.unparked == 2);
}

TEST_CASE("a channel wakes a producer that found no room, once", "[env][channel]") {
  Channel<int> channel(1);
  CountingParker producer;
  int value = 1;
  channel.try_put(value, &producer);
  channel.try_put(value, &producer);

  channel.try_take();
  CHECK(producer.unparked == 1);
  channel.try_put(value);
  channel.try_take();
  CHECK(producer.unparked == 1);
}
