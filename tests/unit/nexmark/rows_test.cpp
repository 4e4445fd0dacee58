// What the processor asks of rows: a codec that the compiler finds.

#include <vector>

#include <catch2/catch.hpp>

#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/reference.hpp"
#include "millrace/runtime/state/codec.hpp"

using namespace millrace;
using namespace millrace::nexmark;

namespace {

template <class Row>
void come_back(const std::vector<Row>& rows) {
  REQUIRE(!rows.empty());
  Encoder out;
  encode(out, rows);
  const auto bytes = out.take();
  Decoder in(bytes);
  CHECK(decoded<std::vector<Row>>(in) == rows);
}

}  // namespace

TEST_CASE("events and rows are plain structs to the processor", "[nexmark][rows]") {
  const std::vector<Event> events = all_events({.events = 5'000, .generators = 2});
  come_back(events);
  come_back(reference::q1(events));
  come_back(reference::q2(events));
  come_back(reference::q3(events));
  come_back(reference::q4(events));
  come_back(reference::q5(events));
  come_back(reference::q8(events));
  come_back(reference::q11(events));
  come_back(reference::q12(events));
  come_back(reference::q17(events));
}

TEST_CASE("events have no padding, so they are copied as they are", "[nexmark][rows]") {
  STATIC_REQUIRE(Plain<Event>);
  STATIC_REQUIRE(Plain<Person>);
  STATIC_REQUIRE(Plain<Auction>);
  STATIC_REQUIRE(Plain<Bid>);
}

TEST_CASE("an event is taken apart into what it was made of", "[nexmark][rows]") {
  const Person person{1000, {5}, names - 1, 9, 5};
  const Auction auction{1001, 1000, 14, 100'000'000, 200'000'000, {6}, {7}};
  const Bid bid{1001, 1002, 100'000'000, {8}};
  CHECK(person_of(event_of(person)) == person);
  CHECK(auction_of(event_of(auction)) == auction);
  CHECK(bid_of(event_of(bid)) == bid);
}
