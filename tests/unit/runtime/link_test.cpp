#include "millrace/runtime/control/link.hpp"

#include <catch2/catch.hpp>

#include "draws.hpp"
#include "fake_connection.hpp"
#include "fake_world.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

/// Where a small message tells which it is.
ControlMessage numbered(std::uint64_t n) { return Trigger{{{1}, n}}; }
std::uint64_t number_of(const ControlMessage& message) { return std::get<Trigger>(message).id.n; }

/// Both ends of a conversation in one world; the test carries frames between them.
struct Conversation {
  explicit Conversation(ControlTiming with = {}) : timing(with) {}

  FakeWorld world;
  Env env = world.env();
  ControlTiming timing;
  Wire left_wire;
  Wire right_wire;
  ControlLink left{env, std::make_unique<FakeConnection>(left_wire), timing};
  ControlLink right{env, std::make_unique<FakeConnection>(right_wire), timing};

  void carry() {
    for (const Bytes& frame : std::exchange(left_wire.written, {})) right_wire.arrive(frame);
    for (const Bytes& frame : std::exchange(right_wire.written, {})) left_wire.arrive(frame);
  }
  void drop() {
    left_wire.written.clear();
    right_wire.written.clear();
  }
};

std::vector<std::uint64_t> numbers_of(const std::vector<ControlMessage>& messages) {
  std::vector<std::uint64_t> numbers;
  for (const auto& message : messages) numbers.push_back(number_of(message));
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

/// One direction of a network that drops, repeats and holds whole frames.
class LossyWay {
 public:
  LossyWay(Wire& from, Wire& to, Draws& draws) : from_(from), to_(to), draws_(draws) {}

  void carry() {
    for (const Bytes& frame : std::exchange(from_.written, {})) {
      const auto fate = draws_.below(6);
      if (fate == 0) {
        ++dropped;
        continue;
      }
      if (fate == 1) held_.push_back({frame, draws_.below(20)});
      if (fate == 2) held_.push_back({frame, draws_.below(20)});  // And now, too.
      if (fate != 1) to_.arrive(frame);
    }
    for (Held& held : held_) {
      if (held.left-- == 0) to_.arrive(held.frame);
    }
    std::erase_if(held_, [](const Held& held) { return held.left == ~std::uint64_t{0}; });
  }
  int dropped = 0;

 private:
  struct Held {
    Bytes frame;
    std::uint64_t left;
  };
  Wire& from_;
  Wire& to_;
  Draws& draws_;
  std::vector<Held> held_;
};

Bytes control_frame(int kind, std::uint64_t number, std::uint64_t received) {
  Encoder out;
  out.number(static_cast<std::uint8_t>(kind));
  out.number(number);
  out.number(received);
  return make_frame(out.view());
}

Bytes message_frame(std::uint64_t number) {
  Encoder out;
  out.number(std::uint8_t{1});
  out.number(number);
  out.number(std::uint64_t{0});
  encode_message(out, numbered(number));
  return make_frame(out.view());
}

}  // namespace

TEST_CASE("messages come in order, in both directions", "[runtime][link]") {
  Conversation talk;
  for (const std::uint64_t n : {1, 2, 3}) talk.left.send(numbered(n));
  talk.right.send(numbered(10));

  talk.left.pump();
  talk.right.pump();
  talk.carry();

  CHECK(numbers_of(talk.right.pump()) == Numbers{1, 2, 3});
  CHECK(numbers_of(talk.left.pump()) == Numbers{10});
  talk.carry();
  CHECK(talk.right.pump().empty());
}

TEST_CASE("what was sent is due at once, and only once", "[runtime][link]") {
  Conversation talk;
  CHECK(talk.left.next_pump() > talk.env.now());
  talk.left.send(numbered(1));
  CHECK(talk.left.next_pump() == talk.env.now());
  talk.left.pump();
  CHECK(talk.left.next_pump() > talk.env.now());
}

TEST_CASE("a message is sent again until it is acknowledged", "[runtime][link]") {
  Conversation talk;
  talk.left.send(numbered(1));
  talk.left.pump();
  CHECK(talk.left_wire.written.size() == 1);
  talk.drop();

  talk.world.clock.advance(talk.timing.resend - 1ns);
  talk.left.pump();
  CHECK(talk.left_wire.written.empty());
  CHECK(talk.left.next_pump() == talk.env.in(1ns));
  talk.world.clock.advance(1ns);
  talk.left.pump();
  CHECK(talk.left_wire.written.size() == 1);  // Lost, and sent again.

  talk.carry();
  CHECK(numbers_of(talk.right.pump()) == Numbers{1});
  talk.carry();  // The acknowledgement.
  talk.left.pump();
  talk.world.clock.advance(talk.timing.resend);
  talk.left.pump();
  CHECK(talk.left_wire.written.empty());
}

TEST_CASE("a message whose acknowledgement is lost is not taken in twice", "[runtime][link]") {
  Conversation talk;
  talk.left.send(numbered(1));
  talk.left.pump();
  talk.carry();
  CHECK(numbers_of(talk.right.pump()) == Numbers{1});
  talk.drop();  // The acknowledgement.

  talk.world.clock.advance(talk.timing.resend);
  talk.left.pump();
  talk.carry();
  CHECK(talk.right.pump().empty());
  CHECK(talk.right_wire.written.size() == 1);  // It is acknowledged all the same.
  talk.carry();
  talk.left.pump();
  talk.world.clock.advance(talk.timing.resend);
  talk.left.pump();
  CHECK(talk.left_wire.written.empty());
}

TEST_CASE("a message that overtook another waits until it comes again in its turn",
          "[runtime][link]") {
  Conversation talk;

  talk.right_wire.arrive(message_frame(2));
  CHECK(talk.right.pump().empty());
  talk.right_wire.arrive(message_frame(1));
  CHECK(numbers_of(talk.right.pump()) == Numbers{1});
  talk.right_wire.arrive(message_frame(2));
  talk.right_wire.arrive(message_frame(1));
  talk.right_wire.arrive(message_frame(3));
  CHECK(numbers_of(talk.right.pump()) == Numbers{2, 3});
}

TEST_CASE("messages come in order and once while frames are dropped, repeated and held",
          "[runtime][link]") {
  const auto seed = GENERATE(range(1, 21));
  Draws draws(static_cast<std::uint64_t>(seed));
  ControlTiming timing;
  timing.dead_after = 60s;  // What is lost here is not to be taken for a death.
  Conversation talk(timing);
  LossyWay there(talk.left_wire, talk.right_wire, draws);
  LossyWay back(talk.right_wire, talk.left_wire, draws);
  constexpr std::uint64_t all = 60;
  std::uint64_t left_sent = 0;
  std::uint64_t right_sent = 0;
  Numbers at_right;
  Numbers at_left;

  for (int step = 0; step < 3'000; ++step) {
    if (left_sent < all && draws.one_in(3)) talk.left.send(numbered(++left_sent));
    if (right_sent < all && draws.one_in(5)) talk.right.send(numbered(++right_sent));
    for (const auto n : numbers_of(talk.left.pump())) at_left.push_back(n);
    for (const auto n : numbers_of(talk.right.pump())) at_right.push_back(n);
    there.carry();
    back.carry();
    talk.world.clock.advance(20ms);
  }

  Numbers expected;
  for (std::uint64_t n = 1; n <= all; ++n) expected.push_back(n);
  CHECK(at_right == expected);
  CHECK(at_left == expected);
  CHECK(there.dropped > 0);
  CHECK(back.dropped > 0);
}

TEST_CASE("silence ends a conversation, and not a moment earlier", "[runtime][link]") {
  Conversation talk;

  talk.world.clock.advance(talk.timing.dead_after - 1ns);
  CHECK_NOTHROW(talk.left.pump());
  CHECK(talk.left.next_pump() <= talk.env.in(1ns));  // It will notice in time.
  talk.world.clock.advance(1ns);
  CHECK_THROWS_AS(talk.left.pump(), ConnectionLost);
}

TEST_CASE("whoever has nothing to say is heard all the same", "[runtime][link]") {
  Conversation talk;
  for (int i = 0; i < 40; ++i) {
    talk.world.clock.advance(talk.timing.heartbeat);
    REQUIRE_NOTHROW(talk.left.pump());
    REQUIRE_NOTHROW(talk.right.pump());
    talk.carry();
  }
}

TEST_CASE("a repeated frame is a sign of life, too", "[runtime][link]") {
  Conversation talk;
  talk.right_wire.arrive(message_frame(1));
  talk.right.pump();
  talk.world.clock.advance(talk.timing.dead_after - 1ns);
  talk.right_wire.arrive(message_frame(1));
  talk.right.pump();
  talk.world.clock.advance(talk.timing.dead_after - 1ns);
  CHECK_NOTHROW(talk.right.pump());
}

TEST_CASE("a peer that takes nothing does not make a link spin", "[runtime][link]") {
  Conversation talk;
  talk.left_wire.is_full = true;
  talk.left_wire.arrive(message_frame(1));  // So an acknowledgement is owed as well.
  for (const std::uint64_t n : {1, 2, 3}) talk.left.send(numbered(n));
  const Instant end = talk.env.in(talk.timing.dead_after - 1ns);

  int pumps = 0;
  while (talk.env.now() < end) {
    talk.left.pump();
    ++pumps;
    const Instant next = talk.left.next_pump();
    REQUIRE(next > talk.env.now());
    talk.world.clock.advance(next - talk.env.now());
  }
  CHECK(pumps <= talk.timing.dead_after / talk.timing.resend +
                     talk.timing.dead_after / talk.timing.heartbeat + 2);
}

TEST_CASE("what found no room is sent when there is some", "[runtime][link]") {
  Conversation talk;
  talk.left_wire.is_full = true;
  for (const std::uint64_t n : {1, 2, 3}) talk.left.send(numbered(n));
  talk.left.pump();
  CHECK(talk.left_wire.deadlines.size() == 1);  // It does not even try the others.

  talk.left_wire.is_full = false;
  talk.world.clock.advance(talk.left.next_pump() - talk.env.now());
  talk.left.pump();
  talk.carry();
  CHECK(numbers_of(talk.right.pump()) == Numbers{1, 2, 3});
}

TEST_CASE("a link waits for nobody with a small message, and a while with a large one",
          "[runtime][link]") {
  Conversation talk;
  talk.left.send(numbered(1));
  talk.left.pump();
  CHECK(talk.left_wire.deadlines == std::vector<Instant>{talk.env.now()});

  RecoverSink large;
  large.manifest.resize(20'000);
  talk.left.send(large);
  talk.left.pump();
  CHECK(talk.left_wire.deadlines.back() == talk.env.in(talk.timing.dead_after));
  talk.carry();
  const auto received = talk.right.pump();
  REQUIRE(received.size() == 2);
  CHECK(std::get<RecoverSink>(received[1]).manifest.size() == 20'000);

  // A part of it may have gone, so nothing can follow.
  talk.left_wire.is_full = true;
  talk.left.send(large);
  CHECK_THROWS_AS(talk.left.pump(), ConnectionLost);
}

TEST_CASE("a link that is over says so when it is pumped, and not when it is sent to",
          "[runtime][link]") {
  Conversation talk;
  talk.left_wire.is_broken = true;

  CHECK_NOTHROW(talk.left.send(numbered(1)));
  CHECK_THROWS_AS(talk.left.pump(), ConnectionLost);
  CHECK_NOTHROW(talk.left.send(numbered(2)));
}

TEST_CASE("what is no control frame is refused", "[runtime][link]") {
  const auto pump_after = [](const Bytes& frame) {
    Conversation talk;
    talk.left_wire.arrive(frame);
    talk.left.pump();
  };

  CHECK_THROWS_AS(pump_after(control_frame(0, 1, 0)), CorruptBytes);
  CHECK_NOTHROW(pump_after(control_frame(2, 0, 0)));
  CHECK_THROWS_AS(pump_after(control_frame(3, 1, 0)), CorruptBytes);
  CHECK_THROWS_AS(pump_after(control_frame(1, 1, 0)), CorruptBytes);  // Without a message.
  CHECK_THROWS_AS(pump_after(make_frame({})), CorruptBytes);
  Bytes torn = message_frame(1);
  torn.back() ^= std::byte{1};
  CHECK_THROWS_AS(pump_after(torn), CorruptBytes);
}
