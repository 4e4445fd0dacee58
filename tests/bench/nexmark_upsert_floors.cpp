#include <algorithm>
#include <limits>

#include "millrace/nexmark/queries.hpp"

#include "nexmark_batch.hpp"
#include "nexmark_state.hpp"

namespace millrace::bench {

using namespace nexmark;

namespace {

constexpr Duration day_length{24 * 60 * 60 * 1000};

/// Auction and day in one word: there are days for a thousand years.
constexpr int day_bits = 20;
constexpr std::int64_t key_of(std::int64_t auction, EventTime day) {
  return auction << day_bits | day.ms / day_length.count();
}
constexpr std::int64_t auction_of_key(std::int64_t key) { return key >> day_bits; }
constexpr EventTime day_of_key(std::int64_t key) {
  return {(key & ((1 << day_bits) - 1)) * day_length.count()};
}

/// What is known of a day: half of what a row says.
struct Day {
  std::int64_t total = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  std::uint32_t bids = 0;
  std::uint32_t below_second_rank = 0;
  std::uint32_t below_third_rank = 0;

  void add(std::int64_t price) {
    total += price;
    least = std::min(least, price);
    most = std::max(most, price);
    ++bids;
    below_second_rank += price < second_rank_price ? 1 : 0;
    below_third_rank += price < third_rank_price ? 1 : 0;
  }

  AuctionDay row(std::int64_t auction, EventTime day) const {
    return {.auction = auction,
            .day = day,
            .bids = bids,
            .first_rank = below_second_rank,
            .second_rank = below_third_rank - below_second_rank,
            .third_rank = bids - below_third_rank,
            .least = least,
            .most = most,
            .average = total / bids,
            .total = total};
  }
};

}  // namespace

Tally floor_q17(Events events) {
  IdMap<Day> days;
  RowBatch<AuctionDay> rows;
  EventTime day_end;
  for (const Event& event : events) {
    if (!is_bid(event)) continue;
    if (event.at >= day_end) [[unlikely]]
      day_end = span_end(event.at, day_length);
    const EventTime day = day_end - day_length;
    Day& known = days[key_of(event.id, day)];
    known.add(event.price);
    rows.add(known.row(event.id, day));
  }
  Tally last;
  for (const auto& [key, known] : days) last.add(known.row(auction_of_key(key), day_of_key(key)));
  return {rows.read().rows, last.check};
}

}  // namespace millrace::bench
