#include "millrace/runtime/flow/inbox.hpp"

#include <catch2/catch.hpp>

#include "draws.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

/// An inbox whose lanes are channels of this test. Messages are watermarks that tell where they
/// come from: lane x 1000 + number.
struct LocalInbox {
  explicit LocalInbox(int lanes) : inbox(env, lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      channels.push_back(std::make_shared<LaneChannel>(lane_room));
      inbox.attach(lane, std::make_unique<LocalLaneIn>(channels.back(), world.parker));
    }
  }

  void put(int lane, std::int64_t number) {
    Message message = Message::of(EventTime{lane * 1000 + number});
    REQUIRE(channels[static_cast<std::size_t>(lane)]->try_put(message));
  }
  /// What is taken next; -1: nothing.
  std::int64_t take() {
    const auto taken = inbox.try_take();
    if (!taken) return -1;
    CHECK(taken->message.watermark.ms / 1000 == taken->lane);
    return taken->message.watermark.ms;
  }

  FakeWorld world;
  Env env = world.env();
  Inbox inbox;
  std::vector<std::shared_ptr<LaneChannel>> channels;
};

}  // namespace

TEST_CASE("lanes take turns while chance is quiet", "[runtime][inbox]") {
  LocalInbox lanes(3);
  for (int lane = 0; lane < 3; ++lane) {
    for (std::int64_t i = 0; i < 2; ++i) lanes.put(lane, i);
  }

  std::vector<std::int64_t> taken;
  for (int i = 0; i < 7; ++i) taken.push_back(lanes.take());

  CHECK(taken == std::vector<std::int64_t>{0, 1000, 2000, 1, 1001, 2001, -1});
}

TEST_CASE("chance decides between lanes, and never within one", "[runtime][inbox]") {
  Draws draws(3);
  bool has_seen_other_order = false;
  for (int run = 0; run < 50; ++run) {
    LocalInbox lanes(3);
    lanes.world.chance.script = [&draws](Site, std::uint64_t bound, std::uint32_t) {
      return draws.below(bound);
    };
    for (int lane = 0; lane < 3; ++lane) {
      for (std::int64_t i = 0; i < 4; ++i) lanes.put(lane, i);
    }
    std::vector<std::int64_t> next(3, 0);
    std::vector<std::int64_t> taken;
    for (std::int64_t one = lanes.take(); one != -1; one = lanes.take()) {
      const auto lane = static_cast<std::size_t>(one / 1000);
      CHECK(one % 1000 == next[lane]++);
      taken.push_back(one);
    }
    CHECK(taken.size() == 12);
    has_seen_other_order = has_seen_other_order || taken[0] != 0 || taken[1] != 1000;
  }
  CHECK(has_seen_other_order);
}

TEST_CASE("a lane that is held keeps what is in it until all are released", "[runtime][inbox]") {
  LocalInbox lanes(2);
  lanes.put(0, 0);
  lanes.put(0, 1);
  lanes.put(1, 0);

  lanes.inbox.hold(0);
  CHECK(lanes.take() == 1000);
  CHECK(lanes.take() == -1);
  lanes.put(1, 1);
  CHECK(lanes.take() == 1001);
  lanes.inbox.release_all();
  CHECK(lanes.take() == 0);
  CHECK(lanes.take() == 1);
}

TEST_CASE("a lane that is held after its next message was looked at keeps that one too",
          "[runtime][inbox]") {
  LocalInbox lanes(2);
  // Lane 1 draws the smaller rank, so that the message of lane 0 was taken out and not used.
  lanes.world.chance.script = [](Site, std::uint64_t, std::uint32_t lane) -> std::uint64_t {
    return lane == 0 ? 9 : 1;
  };
  lanes.put(0, 0);
  lanes.put(1, 0);
  CHECK(lanes.take() == 1000);

  lanes.inbox.hold(0);
  CHECK(lanes.take() == -1);
  lanes.inbox.release_all();
  CHECK(lanes.take() == 0);
}

TEST_CASE("a lane whose producer has not come yet has nothing", "[runtime][inbox]") {
  FakeWorld world;
  Env env = world.env();
  Inbox inbox(env, 2);

  CHECK_FALSE(inbox.try_take().has_value());
}
