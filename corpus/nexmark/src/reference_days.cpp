#include <map>
#include <utility>

#include "millrace/nexmark/queries.hpp"

#include "reference_rows.hpp"
#include "reference_windows.hpp"

namespace millrace::nexmark::reference {

std::vector<AuctionDay> q17(Events events) {
  constexpr Duration day_length{24 * 60 * 60 * 1000};
  std::map<std::pair<std::int64_t, EventTime>, AuctionDay> days;
  for_each_bid(events, [&](const Bid& bid) {
    const EventTime day = tumbling_end(bid.at, day_length) - day_length;
    const auto [found, is_first] = days.try_emplace({bid.auction, day});
    AuctionDay& row = found->second;
    if (is_first) {
      row = {.auction = bid.auction, .day = day, .least = bid.price, .most = bid.price};
    }
    ++row.bids;
    if (bid.price < second_rank_price) {
      ++row.first_rank;
    } else if (bid.price < third_rank_price) {
      ++row.second_rank;
    } else {
      ++row.third_rank;
    }
    row.least = std::min(row.least, bid.price);
    row.most = std::max(row.most, bid.price);
    row.total += bid.price;
    row.average = row.total / row.bids;
  });
  std::vector<AuctionDay> rows;
  for (const auto& [key, row] : days) rows.push_back(row);
  return rows;
}

}  // namespace millrace::nexmark::reference
