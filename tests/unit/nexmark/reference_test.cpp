#include "millrace/nexmark/reference.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/queries.hpp"

using namespace millrace;
using namespace millrace::nexmark;

namespace {

constexpr std::uint32_t peter_shultz = 0;
constexpr std::uint16_t phoenix = 0;
constexpr std::uint16_t arizona = 0;
constexpr std::uint16_t california = 1;

Event person(std::int64_t id, std::int64_t at_ms, std::uint16_t state = arizona) {
  return event_of(Person{id, {at_ms}, peter_shultz, phoenix, state});
}
Event bid(std::int64_t auction, std::int64_t bidder, std::int64_t price, std::int64_t at_ms) {
  return event_of(Bid{auction, bidder, price, {at_ms}});
}
Event auction(std::int64_t id, std::int64_t seller, std::int64_t category, std::int64_t reserve,
              std::int64_t at_ms, std::int64_t expires_ms) {
  return event_of(Auction{id, seller, category, 1, reserve, {at_ms}, {expires_ms}});
}

using Rows = std::vector<Event>;

}  // namespace

TEST_CASE("q1 rounds euros down", "[nexmark][reference]") {
  CHECK(reference::q1(Rows{bid(1, 2, 101, 5)}) == std::vector<Bid>{{1, 2, 89, {5}}});
}

TEST_CASE("q2 watches every 123rd auction", "[nexmark][reference]") {
  CHECK(reference::q2(Rows{bid(122, 1, 7, 0), bid(246, 1, 8, 0), bid(247, 1, 9, 0)}) ==
        std::vector<WatchedBid>{{246, 8}});
}

TEST_CASE("q3 joins whichever comes first", "[nexmark][reference]") {
  const Rows events{auction(11, 1, 10, 0, 0, 9), person(1, 1, california),
                    person(2, 1, arizona),       auction(12, 1, 10, 0, 2, 9),
                    auction(13, 1, 11, 0, 2, 9), auction(14, 2, 10, 0, 2, 9),
                    auction(15, 3, 10, 0, 2, 9)};
  CHECK(reference::q3(events) == std::vector<LocalOffer>{{"Peter Shultz", "Phoenix", "CA", 11},
                                                         {"Peter Shultz", "Phoenix", "CA", 12}});
}

TEST_CASE("q4 sells to the highest valid bid", "[nexmark][reference]") {
  const Rows events{auction(1, 1, 10, 100, 1'000, 2'000),
                    bid(1, 1, 150, 0),      // Before it opens.
                    bid(1, 1, 160, 1'999),  // In the last instant.
                    bid(1, 1, 900, 2'000),  // Too late.
                    auction(2, 1, 10, 100, 1'000, 5'000),
                    bid(2, 1, 99, 1'000),  // Below the reserve.
                    auction(3, 1, 10, 100, 1'000, 5'001),
                    bid(3, 1, 101, 1'000),
                    bid(4, 1, 999, 1'000)};  // Of no auction.
  CHECK(reference::q4(events) ==
        std::vector<CategoryPrice>{{{5'000}, 10, 160}, {{10'000}, 10, 131}, {{15'000}, 10, 101}});
}

TEST_CASE("q4 counts a sale in the instant before the auction expires", "[nexmark][reference]") {
  const auto ends_of_sale_at = [](std::int64_t expires_ms) {
    std::vector<std::int64_t> ends;
    for (const CategoryPrice& row :
         reference::q4(Rows{auction(1, 1, 10, 0, 0, expires_ms), bid(1, 1, 5, 0)})) {
      ends.push_back(row.window_end.ms);
    }
    return ends;
  };
  CHECK(ends_of_sale_at(5'000) == std::vector<std::int64_t>{5'000, 10'000});
  CHECK(ends_of_sale_at(5'001) == std::vector<std::int64_t>{10'000, 15'000});
}

TEST_CASE("q5 keeps all auctions with the most bids of a window", "[nexmark][reference]") {
  const Rows events{bid(1, 1, 1, 4'999), bid(2, 1, 1, 5'000), bid(2, 1, 1, 9'999),
                    bid(1, 1, 1, 9'999)};
  CHECK(reference::q5(events) ==
        std::vector<HotAuction>{
            {{5'000}, 1, 1}, {{10'000}, 1, 2}, {{10'000}, 2, 2}, {{15'000}, 2, 2}});
}

TEST_CASE("windows lie alike before 1970", "[nexmark][reference]") {
  CHECK(reference::q5(Rows{bid(1, 1, 1, -1)}) ==
        std::vector<HotAuction>{{{0}, 1, 1}, {{5'000}, 1, 1}});
}

TEST_CASE("q7 keeps all bids with the highest price of a window", "[nexmark][reference]") {
  const Rows events{bid(1, 1, 50, 0), bid(2, 2, 50, 9'999), bid(3, 3, 49, 5),
                    bid(4, 4, 10, 10'000)};
  CHECK(reference::q7(events) ==
        std::vector<Bid>{{1, 1, 50, {0}}, {2, 2, 50, {9'999}}, {4, 4, 10, {10'000}}});
}

TEST_CASE("q8 finds auctions of sellers of the same window", "[nexmark][reference]") {
  const Rows events{person(1, 9'999), auction(1, 1, 10, 70, 0, 1), auction(2, 1, 10, 70, 1, 1),
                    auction(3, 1, 10, 80, 10'000, 1), auction(4, 2, 10, 90, 0, 1)};
  CHECK(reference::q8(events) == std::vector<NewSeller>(2, {{10'000}, 1, "Peter Shultz", 70}));
}

TEST_CASE("q11 ends a session after a gap", "[nexmark][reference]") {
  const Rows events{bid(1, 7, 1, 19'999), bid(1, 7, 1, 0), bid(1, 7, 1, 10'000), bid(1, 8, 1, 5)};
  CHECK(reference::q11(events) == std::vector<BidSession>{{7, {0}, {10'000}, 1},
                                                          {7, {10'000}, {29'999}, 2},
                                                          {8, {5}, {10'005}, 1}});
}

TEST_CASE("q12 counts all bids of a bidder", "[nexmark][reference]") {
  CHECK(reference::q12(Rows{bid(1, 8, 1, 5), bid(1, 7, 1, 0), bid(1, 7, 1, 99'999)}) ==
        std::vector<BidderCount>{{7, 2}, {8, 1}});
}

TEST_CASE("q17 ranks the prices of an auction's day", "[nexmark][reference]") {
  constexpr std::int64_t midnight = 86'400'000;
  const Rows events{bid(1, 1, 9'999, 0), bid(1, 1, 10'000, 1), bid(1, 1, 1'000'000, midnight - 1),
                    bid(1, 1, 999'999, midnight)};
  CHECK(reference::q17(events) ==
        std::vector<AuctionDay>{{1, {0}, 3, 1, 1, 1, 9'999, 1'000'000, 339'999, 1'019'999},
                                {1, {midnight}, 1, 0, 1, 0, 999'999, 999'999, 999'999, 999'999}});
}

TEST_CASE("q18 keeps the last bid of a bidder for an auction", "[nexmark][reference]") {
  const Rows events{bid(1, 1, 9, 5), bid(1, 1, 3, 6), bid(1, 1, 4, 6), bid(1, 1, 2, 6),
                    bid(2, 1, 1, 0)};
  CHECK(reference::q18(events) == std::vector<Bid>{{1, 1, 4, {6}}, {2, 1, 1, {0}}});
}

TEST_CASE("no result depends on the order of the events", "[nexmark][reference]") {
  const Rows events = all_events({.events = 5'000, .generators = 2});
  Rows backwards = events;
  std::ranges::reverse(backwards);
  CHECK(reference::q3(events) == reference::q3(backwards));
  CHECK(reference::q4(events) == reference::q4(backwards));
  CHECK(reference::q5(events) == reference::q5(backwards));
  CHECK(reference::q7(events) == reference::q7(backwards));
  CHECK(reference::q8(events) == reference::q8(backwards));
  CHECK(reference::q11(events) == reference::q11(backwards));
  CHECK(reference::q12(events) == reference::q12(backwards));
  CHECK(reference::q17(events) == reference::q17(backwards));
  CHECK(reference::q18(events) == reference::q18(backwards));
}
