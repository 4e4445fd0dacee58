#include <map>
#include <utility>

#include "millrace/nexmark/queries.hpp"

#include "reference_rows.hpp"
#include "reference_windows.hpp"

namespace millrace::nexmark::reference {

std::vector<BidSession> q11(Events events) {
  std::map<std::int64_t, std::vector<EventTime>> bidders;
  for_each_bid(events, [&](const Bid& bid) { bidders[bid.bidder].push_back(bid.at); });
  std::vector<BidSession> rows;
  for (auto& [bidder, times] : bidders) {
    std::ranges::sort(times);
    BidSession session{bidder, times.front(), times.front(), 0};
    for (const EventTime at : times) {
      if (session.bids > 0 && at >= session.end) {
        rows.push_back(session);
        session = {bidder, at, at, 0};
      }
      session.end = at + window_size;
      ++session.bids;
    }
    rows.push_back(session);
  }
  return sorted(std::move(rows));
}

std::vector<BidderCount> q12(Events events) {
  std::map<std::int64_t, std::int64_t> bidders;
  for_each_bid(events, [&](const Bid& bid) { ++bidders[bid.bidder]; });
  std::vector<BidderCount> rows;
  for (const auto& [bidder, bids] : bidders) rows.push_back({bidder, bids});
  return rows;
}

std::vector<Bid> q18(Events events) {
  std::map<std::pair<std::int64_t, std::int64_t>, Bid> last;
  for_each_bid(events, [&](const Bid& bid) {
    const auto [known, is_first] = last.try_emplace({bid.bidder, bid.auction}, bid);
    const Bid& before = known->second;
    if (std::pair(bid.at, bid.price) > std::pair(before.at, before.price)) known->second = bid;
  });
  std::vector<Bid> rows;
  for (const auto& [key, bid] : last) rows.push_back(bid);
  return sorted(std::move(rows));
}

}  // namespace millrace::nexmark::reference
