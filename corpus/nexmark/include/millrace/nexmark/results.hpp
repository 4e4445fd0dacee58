#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "millrace/env/event_time.hpp"

namespace millrace::nexmark {

// Rows of results. q0 gives Events, q1, q7 and q18 give Bids. Rows of a window say when it ends;
// money is in cents.

/// q2: a bid for one of the auctions that are watched.
struct WatchedBid {
  std::int64_t auction = 0;
  std::int64_t price = 0;
  friend auto operator<=>(const WatchedBid&, const WatchedBid&) = default;
};

/// q3: somebody nearby sells something of the kind that is looked for.
struct LocalOffer {
  std::string name;
  std::string city;
  std::string state;
  std::int64_t auction = 0;
  friend auto operator<=>(const LocalOffer&, const LocalOffer&) = default;
};

/// q4: what things of a category were sold for, on average.
struct CategoryPrice {
  EventTime window_end;
  std::int64_t category = 0;
  std::int64_t price = 0;
  friend auto operator<=>(const CategoryPrice&, const CategoryPrice&) = default;
};

/// q5: an auction that nobody had more bids than.
struct HotAuction {
  EventTime window_end;
  std::int64_t auction = 0;
  std::int64_t bids = 0;
  friend auto operator<=>(const HotAuction&, const HotAuction&) = default;
};

/// q8: an offer of somebody who has only just come.
struct NewSeller {
  EventTime window_end;
  std::int64_t person = 0;
  std::string name;
  std::int64_t reserve = 0;
  friend auto operator<=>(const NewSeller&, const NewSeller&) = default;
};

/// q11: bids of one bidder without a long break.
struct BidSession {
  std::int64_t bidder = 0;
  EventTime start;  ///< Of the first bid.
  EventTime end;    ///< The last bid and the gap after it.
  std::int64_t bids = 0;
  friend auto operator<=>(const BidSession&, const BidSession&) = default;
};

/// q12: bids of one bidder within a window of a clock.
struct BidderCount {
  std::int64_t bidder = 0;
  std::int64_t bids = 0;
  friend auto operator<=>(const BidderCount&, const BidderCount&) = default;
};

/// q17: a day of an auction.
struct AuctionDay {
  std::int64_t auction = 0;
  EventTime day;  ///< Its midnight, UTC.
  std::int64_t bids = 0;
  std::int64_t first_rank = 0;
  std::int64_t second_rank = 0;
  std::int64_t third_rank = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t average = 0;
  std::int64_t total = 0;
  friend auto operator<=>(const AuctionDay&, const AuctionDay&) = default;
};

}  // namespace millrace::nexmark
