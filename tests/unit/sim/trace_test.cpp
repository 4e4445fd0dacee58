#include "millrace/sim/trace.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace::sim;

namespace {

struct Recorded {
  EventKind kind = EventKind::sent;
  std::uint64_t a = 1;
  std::uint64_t b = 2;
  std::uint64_t c = 3;
  std::int64_t at = 4;
};

void record(Trace& trace, const Recorded& event) {
  trace.record(event.kind, event.a, event.b, event.c, event.at);
}

std::uint64_t hash_of(const std::vector<Recorded>& events) {
  Trace trace;
  for (const Recorded& event : events) record(trace, event);
  return trace.hash();
}

/// So many events, all different.
std::vector<Recorded> many(std::uint64_t count) {
  std::vector<Recorded> events;
  for (std::uint64_t i = 0; i < count; ++i) {
    events.push_back({EventKind::disk, i, i * i, i % 7, static_cast<std::int64_t>(i)});
  }
  return events;
}

}  // namespace

// So that compilers can be compared; a change of the format changes them.
TEST_CASE("the hash of a trace is the same on every compiler", "[sim][trace]") {
  CHECK(hash_of({}) == 0x2D06800538D394C2U);
  CHECK(hash_of({{EventKind::sent, 1, 2, 3, 4}}) == 0x096FE3A3E11949A2U);
  CHECK(hash_of({{EventKind::sent, 1, 2, 3, 4}, {EventKind::time, 5, 0, 0, 5}}) ==
        0x124D28637642482AU);
}

TEST_CASE("the hash of a trace depends on every field of every event", "[sim][trace]") {
  const std::uint64_t hash = hash_of({{}, {}, {}});

  CHECK(hash_of({{}, {}, {}}) == hash);
  CHECK(hash_of({{}, {EventKind::delivered}, {}}) != hash);
  CHECK(hash_of({{}, {EventKind::sent, 9}, {}}) != hash);
  CHECK(hash_of({{}, {EventKind::sent, 1, 9}, {}}) != hash);
  CHECK(hash_of({{}, {EventKind::sent, 1, 2, 9}, {}}) != hash);
  CHECK(hash_of({{}, {EventKind::sent, 1, 2, 3, 9}, {}}) != hash);
  CHECK(hash_of({{}, {}}) != hash);
  CHECK(hash_of({{}, {}, {}, {}}) != hash);
}

TEST_CASE("the hash of a trace depends on the order of events", "[sim][trace]") {
  const Recorded one{EventKind::sent, 1};
  const Recorded two{EventKind::sent, 2};

  CHECK(hash_of({one, two}) != hash_of({two, one}));
}

TEST_CASE("where a trace is hashed in between does not matter", "[sim][trace]") {
  for (const std::uint64_t count : {1, 127, 128, 129, 255, 256, 257, 1000}) {
    CAPTURE(count);
    const auto events = many(count);
    const std::uint64_t at_once = hash_of(events);

    Trace often;
    for (const Recorded& event : events) {
      record(often, event);
      often.hash();
    }
    CHECK(often.hash() == at_once);
    CHECK(often.hash() == at_once);  // Asking changes nothing.
    CHECK(often.events() == count);

    auto longer = events;
    longer.emplace_back();
    CHECK(hash_of(longer) != at_once);
  }
}

TEST_CASE("a trace counts its events", "[sim][trace]") {
  Trace trace;
  for (std::uint64_t i = 0; i < 300; ++i) {
    CHECK(trace.events() == i);
    record(trace, {});
  }
}

TEST_CASE("whoever listens to a trace gets every event once, in order", "[sim][trace]") {
  std::vector<TraceEvent> heard;
  Trace trace;
  trace.listen([&heard](const TraceEvent& event) { heard.push_back(event); });
  const auto events = many(300);

  for (const Recorded& event : events) record(trace, event);
  trace.hash();

  REQUIRE(heard.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Recorded& event = events[i];
    CAPTURE(i);
    CHECK(heard[i] == TraceEvent{static_cast<std::uint64_t>(event.kind) << 56 ^ event.a, event.b,
                                 event.c, static_cast<std::uint64_t>(event.at)});
  }
}

TEST_CASE("events of every kind are told to people", "[sim][trace]") {
  std::vector<std::string> told;
  Trace trace;
  trace.listen([&](const TraceEvent& event) { told.push_back(to_text(event)); });
  trace.record(EventKind::resumed, 17, 0, 0, 1'500'000);
  trace.record(EventKind::time, 2'000'001, 0, 0, 2'000'001);
  trace.record(EventKind::sent, 3, 64, 0xAB, 2'000'001);
  trace.record(EventKind::delivered, 4, 64, 0, 3'000'000);
  trace.record(EventKind::disk, 1, 3, 0x40, 3'000'000);
  trace.record(EventKind::fault, 2, 5, 0, 3'000'000);
  trace.record(EventKind::life, 5, 2, 1, 1'003'000'000);
  trace.hash();
  CHECK(told == std::vector<std::string>{
                    "1.500000 ms: task 17 resumed", "2.000001 ms: time goes on to 2000001 ns",
                    "2.000001 ms: 64 bytes sent by end 3, checksum 00000000000000ab",
                    "3.000000 ms: 64 bytes delivered to end 4",
                    "3.000000 ms: operation 3 on the disk of node 1, of 40",
                    "3.000000 ms: fault of kind 2 at node 5",
                    "1003.000000 ms: life 2 of node 5 in state 1"});
}
