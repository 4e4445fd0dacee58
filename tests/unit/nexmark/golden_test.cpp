// What Apache Beam publishes of its own run over these events: the suite SMOKE, streaming, on its
// direct runner. Queries that look for the highest bid of an auction get a tenth of the events.

#include <catch2/catch.hpp>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/java_random.hpp"
#include "millrace/nexmark/queries.hpp"
#include "millrace/nexmark/reference.hpp"

using namespace millrace;
using namespace millrace::nexmark;

namespace {

const std::vector<Event>& smoke() {
  static const std::vector<Event> events = all_events({});
  return events;
}

const std::vector<Event>& small_smoke() {
  static const std::vector<Event> events = all_events({.events = 10'000});
  return events;
}

/// Bids for the auction that is hot, in 100,000, of all bids of the first `events`.
std::int64_t hot_share(std::int64_t events) {
  std::int64_t bids = 0;
  std::int64_t hot = 0;
  for (std::int64_t id = 0; id < events; ++id) {
    if (id % 50 < 4) continue;
    ++bids;
    if (JavaRandom(id).next_int(2) > 0) ++hot;
  }
  return hot * 100'000 / bids;
}

}  // namespace

TEST_CASE("the reference gives as many rows as Beam", "[nexmark][golden]") {
  CHECK(reference::q0(smoke()).size() == 100'000);
  CHECK(reference::q1(smoke()).size() == 92'000);
  CHECK(reference::q2(smoke()).size() == 351);
  CHECK(reference::q5(smoke()).size() == 12);
  CHECK(reference::q7(smoke()).size() == 1);
  CHECK(reference::q8(smoke()).size() == 6'000);
  CHECK(reference::q11(smoke()).size() == 1'919);
  CHECK(reference::q12(smoke()).size() == 1'919);
  CHECK(reference::q4(small_smoke()).size() == 40);
}

TEST_CASE("the join without end has more rows than Beam's direct runner finds",
          "[nexmark][golden]") {
  // 444 are published; that runner is known to lose rows of this query, other ones in every run,
  // and only there (apache/beam issue 20615).
  CHECK(reference::q3(smoke()).size() == 580);
}

TEST_CASE("small seeds draw hot auctions as unevenly as Java's do", "[nexmark][golden]") {
  CHECK(hot_share(100'000) == 51'943);
  CHECK(hot_share(1'000'000) == 49'725);
}
