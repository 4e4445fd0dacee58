#include "millrace/nexmark/queries.hpp"

#include "reference_rows.hpp"

namespace millrace::nexmark::reference {

std::vector<Event> q0(Events events) {
  return sorted(std::vector<Event>(events.begin(), events.end()));
}

std::vector<Bid> q1(Events events) {
  std::vector<Bid> rows;
  for_each_bid(events, [&](Bid bid) {
    bid.price = euros(bid.price);
    rows.push_back(bid);
  });
  return sorted(std::move(rows));
}

std::vector<WatchedBid> q2(Events events) {
  std::vector<WatchedBid> rows;
  for_each_bid(events, [&](const Bid& bid) {
    if (bid.auction % auction_skip == 0) rows.push_back({bid.auction, bid.price});
  });
  return sorted(std::move(rows));
}

}  // namespace millrace::nexmark::reference
