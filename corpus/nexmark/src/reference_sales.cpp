#include <map>
#include <utility>

#include "reference_rows.hpp"
#include "reference_windows.hpp"

namespace millrace::nexmark::reference {
namespace {

/// The highest valid bid of each auction that has one.
std::map<std::int64_t, std::int64_t> sale_prices(Events events,
                                                 const std::map<std::int64_t, Auction>& auctions) {
  std::map<std::int64_t, std::int64_t> prices;
  for_each_bid(events, [&](const Bid& bid) {
    const auto auction = auctions.find(bid.auction);
    if (auction == auctions.end()) return;
    if (bid.at >= auction->second.expires || bid.price < auction->second.reserve) return;
    std::int64_t& price = prices[bid.auction];
    price = std::max(price, bid.price);
  });
  return prices;
}

/// Rounded, halves up.
std::int64_t average(std::int64_t total, std::int64_t count) {
  return (2 * total + count) / (2 * count);
}

}  // namespace

std::vector<CategoryPrice> q4(Events events) {
  std::map<std::int64_t, Auction> auctions;
  for_each_auction(events, [&](const Auction& auction) { auctions.emplace(auction.id, auction); });

  struct Sales {
    std::int64_t total = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<EventTime, std::int64_t>, Sales> windows;
  for (const auto& [id, price] : sale_prices(events, auctions)) {
    const Auction& auction = auctions.at(id);
    for (const EventTime end : sliding_ends(auction.expires - Duration{1})) {
      Sales& sales = windows[{end, auction.category}];
      sales.total += price;
      ++sales.count;
    }
  }

  std::vector<CategoryPrice> rows;
  for (const auto& [key, sales] : windows) {
    rows.push_back({key.first, key.second, average(sales.total, sales.count)});
  }
  return sorted(std::move(rows));
}

}  // namespace millrace::nexmark::reference
