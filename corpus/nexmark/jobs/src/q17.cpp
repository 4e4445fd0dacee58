// q17: per auction and day (UTC): all bids, those of the three ranks, the least, greatest, average
// and sum of their prices. The average is rounded towards zero.
//
// A row for every bid, in the place of the auction's row of that day: what a row says is that of
// all bids up to then, and so the last one is that of the day.

#include <algorithm>
#include <limits>

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {
namespace {

/// All of a day in one fold.
struct Prices {
  struct State {
    std::int64_t total = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    std::int64_t bids = 0;
    std::int64_t first_rank = 0;
    std::int64_t second_rank = 0;
  };

  std::int64_t pick(const Bid& bid) const { return bid.price; }
  void add(State& s, std::int64_t price) const {
    s.total += price;
    s.least = std::min(s.least, price);
    s.most = std::max(s.most, price);
    ++s.bids;
    if (price < second_rank_price) {
      ++s.first_rank;
    } else if (price < third_rank_price) {
      ++s.second_rank;
    }
  }
  void merge(State& s, const State& other) const {
    s.total += other.total;
    s.least = std::min(s.least, other.least);
    s.most = std::max(s.most, other.most);
    s.bids += other.bids;
    s.first_rank += other.first_rank;
    s.second_rank += other.second_rank;
  }
  const State& result(const State& s) const { return s; }
};

AuctionDay row_of(const Windowed<std::int64_t, Prices::State>& day) {
  const Prices::State& prices = day.value;
  return {.auction = day.key,
          .day = day.window.start,
          .bids = prices.bids,
          .first_rank = prices.first_rank,
          .second_rank = prices.second_rank,
          .third_rank = prices.bids - prices.first_rank - prices.second_rank,
          .least = prices.least,
          .most = prices.most,
          .average = prices.total / prices.bids,
          .total = prices.total};
}

}  // namespace

Job q17(const Source<Event>& events, const Sink<AuctionDay>& rows) {
  constexpr Duration day{24 * 60 * 60 * 1000};
  return Job("q17", bids_of(events)
                        .key_by<&Bid::auction>()
                        .window(tumbling(day))
                        .trigger(every_rows(1))
                        .aggregate("days", Prices{})
                        .map<&row_of>()
                        .to("q17", rows));
}

}  // namespace millrace::nexmark
