#include <map>

#include "reference_rows.hpp"
#include "reference_windows.hpp"

namespace millrace::nexmark::reference {

std::vector<HotAuction> q5(Events events) {
  std::map<EventTime, std::map<std::int64_t, std::int64_t>> windows;
  for_each_bid(events, [&](const Bid& bid) {
    for (const EventTime end : sliding_ends(bid.at)) ++windows[end][bid.auction];
  });
  std::vector<HotAuction> rows;
  for (const auto& [end, auctions] : windows) {
    std::int64_t most = 0;
    for (const auto& [auction, bids] : auctions) most = std::max(most, bids);
    for (const auto& [auction, bids] : auctions) {
      if (bids == most) rows.push_back({end, auction, bids});
    }
  }
  return sorted(std::move(rows));
}

std::vector<Bid> q7(Events events) {
  std::map<EventTime, std::int64_t> highest;
  for_each_bid(events, [&](const Bid& bid) {
    std::int64_t& price = highest[tumbling_end(bid.at)];
    price = std::max(price, bid.price);
  });
  std::vector<Bid> rows;
  for_each_bid(events, [&](const Bid& bid) {
    if (bid.price == highest.at(tumbling_end(bid.at))) rows.push_back(bid);
  });
  return sorted(std::move(rows));
}

}  // namespace millrace::nexmark::reference
