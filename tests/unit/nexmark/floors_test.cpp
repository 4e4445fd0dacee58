// A floor that does less than its query bounds nothing.

#include <catch2/catch.hpp>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/reference.hpp"

#include "nexmark_floors.hpp"

using namespace millrace;
using namespace millrace::nexmark;
using bench::tally_of;

namespace {

/// One timeline. At 50 events a second sessions end, auctions expire before their last bids and
/// windows are few keys; at 20,000 all of it is open at once.
std::vector<Event> events_at(std::int64_t events_per_second) {
  GeneratorConfig config;
  config.events = 60'000;
  config.events_per_second = events_per_second;
  config.generators = 1;
  return all_events(config);
}

void agree(const std::vector<Event>& events) {
  CHECK(bench::floor_q0(events) == tally_of(reference::q0(events)));
  CHECK(bench::floor_q1(events) == tally_of(reference::q1(events)));
  CHECK(bench::floor_q2(events) == tally_of(reference::q2(events)));
  CHECK(bench::floor_q4(events) == tally_of(reference::q4(events)));
  CHECK(bench::floor_q5(events) == tally_of(reference::q5(events)));
  CHECK(bench::floor_q7(events) == tally_of(reference::q7(events)));
  CHECK(bench::floor_q8(events) == tally_of(reference::q8(events)));
  CHECK(bench::floor_q11(events) == tally_of(reference::q11(events)));
  CHECK(bench::floor_q12(events).check == tally_of(reference::q12(events)).check);
  CHECK(bench::floor_q17(events).check == tally_of(reference::q17(events)).check);
  CHECK(bench::floor_q17(events).rows == tally_of(reference::q1(events)).rows);
}

}  // namespace

TEST_CASE("every floor gives the rows of the reference", "[nexmark][floors]") {
  agree(events_at(50));
  agree(events_at(700));
  agree(events_at(20'000));
}

TEST_CASE("every floor has something to give", "[nexmark][floors]") {
  const std::vector<Event> events = events_at(700);
  for (const bench::Floor& floor : bench::floors()) {
    CAPTURE(floor.name);
    CHECK(floor.run(events).rows > 0);
    CHECK(floor.run({}) == bench::Tally{});
  }
}
