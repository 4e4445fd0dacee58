#include "millrace/runtime/flow/wire.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/flow/lane.hpp"

#include "damage.hpp"
#include "fake_connection.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

struct Reading {
  std::int64_t station = 0;
  std::string name;
  friend bool operator==(const Reading&, const Reading&) = default;
};

/// Everything that can be read from a wire now.
std::vector<std::string> read_all(FrameReader& reader, Wire& wire) {
  FakeConnection connection(wire);
  std::vector<std::string> bodies;
  while (const auto body = reader.next(connection)) bodies.emplace_back(as_text(*body));
  return bodies;
}

/// The head of a frame alone.
Bytes frame_head(std::uint32_t size, std::uint64_t sum) {
  Encoder out;
  out.number(size);
  out.number(sum);
  return out.take();
}

/// A lane between nodes, both ends, over one wire.
struct RemoteLane {
  FakeWorld world;
  Wire wire;
  RemoteLaneOut out{std::make_unique<FakeConnection>(wire)};
  RemoteLaneIn in{
      std::make_unique<FakeConnection>(wire), {}, &Parcel<Reading>::decode, world.parker};

  void carry() {
    for (const Bytes& frame : std::exchange(wire.written, {})) wire.arrive(frame);
  }
  /// Takes in a frame with this body.
  std::optional<Message> receive(std::span<const std::byte> body) {
    wire.arrive(make_frame(body));
    return in.try_take();
  }
};

Bytes body_of(Message message) {
  RemoteLane lane;
  lane.out.put(std::move(message));
  lane.out.flush();
  const Bytes& frame = lane.wire.written.front();
  return {frame.begin() + 12, frame.end()};
}

std::unique_ptr<AnyBatch> some_rows() {
  Batch<Reading> rows;
  rows.add(EventTime{5}, Reading{1, "one"});
  rows.add(EventTime{-6}, Reading{2, ""});
  return std::make_unique<Parcel<Reading>>(std::move(rows));
}

}  // namespace

TEST_CASE("a frame is its length, its checksum and its body", "[runtime][wire]") {
  const Bytes frame = make_frame(as_bytes("river"));

  Decoder in(frame);
  CHECK(in.number<std::uint32_t>() == 5);
  CHECK(in.number<std::uint64_t>() == checksum("river"));
  CHECK(as_text(in.skip(5)) == "river");
  CHECK(in.left() == 0);
}

TEST_CASE("frames are found however their bytes arrive", "[runtime][wire]") {
  const std::vector<std::string> bodies{"", "a", std::string(100'000, 'x'), "river"};
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{40'000}}) {
    Wire wire;
    wire.most_per_read = piece;
    for (const auto& body : bodies) wire.arrive(make_frame(as_bytes(body)));
    FrameReader reader;

    CHECK(read_all(reader, wire) == bodies);
  }
}

TEST_CASE("a frame that has not all arrived is waited for", "[runtime][wire]") {
  const Bytes frame = make_frame(as_bytes("river"));
  for (std::size_t cut = 0; cut < frame.size(); ++cut) {
    CAPTURE(cut);
    Wire wire;
    FrameReader reader;
    wire.arrive(std::span(frame).first(cut));
    CHECK(read_all(reader, wire).empty());
    wire.arrive(std::span(frame).subspan(cut));
    CHECK(read_all(reader, wire) == std::vector<std::string>{"river"});
  }
}

TEST_CASE("what arrived before the connection broke is read first", "[runtime][wire]") {
  Wire wire;
  wire.arrive(make_frame(as_bytes("last words")));
  wire.is_broken = true;
  FakeConnection connection(wire);
  FrameReader reader;

  const auto body = reader.next(connection);
  REQUIRE(body.has_value());
  CHECK(as_text(*body) == "last words");
  CHECK_THROWS_AS(reader.next(connection), ConnectionLost);
  CHECK_THROWS_AS(reader.next(connection), ConnectionLost);
}

TEST_CASE("no frame with a changed byte is taken for one", "[runtime][wire]") {
  const Bytes frame = make_frame(as_bytes("river"));
  for (std::size_t at = 0; at < frame.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = frame;
      changed[at] ^= static_cast<std::byte>(1 << bit);
      Wire wire;
      wire.arrive(changed);
      FrameReader reader;
      std::vector<std::string> bodies;
      const bool is_noticed = is_refused(changed, [&](auto) { bodies = read_all(reader, wire); });
      CAPTURE(at, bit);
      CHECK(bodies.empty());
      // Only a longer length is not noticed at once: it waits for bytes that never come.
      CHECK((is_noticed || at < 4));
    }
  }
}

TEST_CASE("a frame of the greatest length is waited for, and one longer is refused at once",
          "[runtime][wire]") {
  for (const int more : {-1, 0, 1}) {
    Wire wire;
    wire.arrive(frame_head(largest_frame_bytes + static_cast<std::uint32_t>(more), 0));
    FrameReader reader;
    const auto complaint = message_of<CorruptBytes>([&] { read_all(reader, wire); });
    CHECK(complaint ==
          (more > 0 ? "a frame says that it has 67108865 bytes; the limit is 67108864" : ""));
  }
}

TEST_CASE("rows, watermarks, barriers and idleness survive the way to another node",
          "[runtime][lane]") {
  RemoteLane lane;
  lane.out.put(Message::of(some_rows()));
  lane.out.put(Message::of(EventTime{77}));
  lane.out.put(Message::of(CheckpointId{{3}, 4}));
  CHECK(lane.wire.written.size() ==
        1);  // A barrier stays for nothing, and takes along what stayed.
  lane.out.put(Message::of(Activity{true}));
  CHECK(lane.wire.written.size() == 2);
  lane.carry();

  const auto rows = lane.in.try_take();
  REQUIRE(rows.has_value());
  REQUIRE(rows->kind == Message::Kind::rows);
  const auto& batch = static_cast<Parcel<Reading>&>(*rows->rows).rows;
  REQUIRE(batch.size() == 2);
  CHECK(batch.begin()[0].time == EventTime{5});
  CHECK(batch.begin()[0].value == Reading{1, "one"});
  CHECK(batch.begin()[1].time == EventTime{-6});
  CHECK(batch.begin()[1].value == Reading{2, ""});

  const auto watermark = lane.in.try_take();
  REQUIRE(watermark.has_value());
  CHECK(watermark->kind == Message::Kind::watermark);
  CHECK(watermark->watermark == EventTime{77});

  const auto barrier = lane.in.try_take();
  REQUIRE(barrier.has_value());
  CHECK(barrier->kind == Message::Kind::barrier);
  CHECK(barrier->barrier == CheckpointId{{3}, 4});

  const auto activity = lane.in.try_take();
  REQUIRE(activity.has_value());
  CHECK(activity->kind == Message::Kind::activity);
  CHECK(activity->activity.is_idle);

  CHECK_FALSE(lane.in.try_take().has_value());
}

TEST_CASE("rows and watermarks go when there are enough of them, or when they are told to",
          "[runtime][lane]") {
  RemoteLane lane;
  lane.out.flush();
  CHECK(lane.wire.written.empty());
  lane.out.put(Message::of(some_rows()));
  lane.out.put(Message::of(EventTime{1}));
  CHECK(lane.wire.written.empty());
  lane.out.flush();
  lane.out.flush();
  CHECK(lane.wire.written.size() == 1);

  for (std::size_t i = 1; i < most_in_company; ++i) lane.out.put(Message::of(EventTime{2}));
  CHECK(lane.wire.written.size() == 1);
  lane.out.put(Message::of(EventTime{2}));
  CHECK(lane.wire.written.size() == 2);

  Batch<Reading> wide;
  wide.add(EventTime{3}, Reading{1, std::string(most_bytes_in_company, 'x')});
  lane.out.put(Message::of(std::make_unique<Parcel<Reading>>(std::move(wide))));
  CHECK(lane.wire.written.size() == 3);

  lane.carry();
  std::size_t arrived = 0;
  while (lane.in.try_take()) ++arrived;
  CHECK(arrived == 2 + most_in_company + 1);
}

TEST_CASE("within a node as well", "[runtime][lane]") {
  FakeWorld world;
  const auto channel = std::make_shared<LaneChannel>(lane_room);
  LocalLaneOut out(channel, world.parker);
  out.put(Message::of(some_rows()));
  out.put(Message::of(EventTime{1}));
  CHECK(channel->empty());
  out.flush();
  CHECK(channel->try_take()->kind == Message::Kind::rows);
  CHECK(channel->try_take()->kind == Message::Kind::watermark);

  out.put(Message::of(EventTime{2}));
  out.put(Message::of(CheckpointId{{3}, 4}));
  CHECK(channel->try_take()->kind == Message::Kind::watermark);
  CHECK(channel->try_take()->kind == Message::Kind::barrier);

  for (std::size_t i = 0; i < most_in_company; ++i) out.put(Message::of(EventTime{3}));
  CHECK_FALSE(channel->empty());
}

TEST_CASE("a lane waits for ever to write, and is lost if it cannot", "[runtime][lane]") {
  RemoteLane lane;
  lane.out.put(Message::of(CheckpointId{{1}, 1}));
  CHECK(lane.wire.deadlines == std::vector<Instant>{Instant::never()});
  lane.wire.is_full = true;
  CHECK_THROWS_AS(lane.out.put(Message::of(CheckpointId{{1}, 2})), ConnectionLost);
}

TEST_CASE("what a lane carries is refused if its kind is unknown", "[runtime][lane]") {
  for (const int kind : {0, 5, 255}) {
    RemoteLane lane;
    const Bytes body{static_cast<std::byte>(kind)};
    CHECK_THROWS_AS(lane.receive(body), CorruptBytes);
  }
  RemoteLane lane;
  CHECK_THROWS_AS(lane.receive({}), CorruptBytes);
}

TEST_CASE("what a lane carries is refused if it was cut short", "[runtime][lane]") {
  const std::vector<Bytes> bodies{body_of(Message::of(some_rows())),
                                  body_of(Message::of(EventTime{77})),
                                  body_of(Message::of(CheckpointId{{3}, 4}))};
  for (const Bytes& body : bodies) {
    const auto cut = find_unnoticed_cut(body, [](std::span<const std::byte> part) {
      RemoteLane lane;
      lane.receive(part);
    });
    CHECK(cut == std::nullopt);
  }
}

TEST_CASE("what a lane carries is refused if bytes follow its end", "[runtime][lane]") {
  const std::vector<Bytes> bodies{body_of(Message::of(some_rows())),
                                  body_of(Message::of(EventTime{77})),
                                  body_of(Message::of(CheckpointId{{3}, 4}))};
  for (Bytes body : bodies) {
    RemoteLane lane;
    body.push_back(std::byte{0});
    CAPTURE(static_cast<int>(body[0]));
    CHECK_THROWS_AS(lane.receive(body), CorruptBytes);
  }
}

TEST_CASE("more rows than a batch has room for are refused", "[runtime][lane]") {
  const auto decode_rows = [](std::uint32_t count) {
    Encoder out;
    out.number(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      out.number(std::int64_t{i});
      encode(out, Reading{});
    }
    Decoder in(out.view());
    Parcel<Reading>::decode(in);
  };
  const std::uint32_t room = Batch<Reading>::room();

  CHECK_NOTHROW(decode_rows(room - 1));
  CHECK_NOTHROW(decode_rows(room));
  CHECK_THROWS_AS(decode_rows(room + 1), CorruptBytes);
}
