#include <algorithm>
#include <vector>

#include "millrace/nexmark/queries.hpp"

#include "nexmark_state.hpp"

namespace millrace::bench {

using namespace nexmark;

Tally floor_q5(Events events) {
  Tally tally;
  Spans<IdMap<std::int64_t>, 4> panes(window_slide);
  IdMap<std::int64_t> total;
  const auto close = [&](EventTime end) {
    for (const auto& [auction, bids] : panes.ending_at(end)) total[auction] += bids;
    std::int64_t most = 0;
    for (const auto& [auction, bids] : total) most = std::max(most, bids);
    for (const auto& [auction, bids] : total) {
      if (bids == most) tally.add(HotAuction{end, auction, bids});
    }
    auto& oldest = panes.ending_at(end - window_size + window_slide);
    for (const auto& [auction, bids] : oldest) {
      const auto found = total.find(auction);
      found->second -= bids;
      if (found->second == 0) total.erase(found);
    }
    oldest.clear();
  };
  Ends ends(window_slide, events);
  for (const Event& event : events) {
    if (!is_bid(event)) continue;
    ends.pass(event.at, close);
    ++panes.holding(event.at)[event.id];
  }
  if (!events.empty()) ends.finish(events.back().at + window_size, close);
  return tally;
}

Tally floor_q7(Events events) {
  Tally tally;
  Spans<std::vector<Bid>, 2> windows(window_size);  // All bids with the highest price so far.
  const auto close = [&](EventTime end) {
    std::vector<Bid>& highest = windows.ending_at(end);
    for (const Bid& bid : highest) tally.add(bid);
    highest.clear();
  };
  Ends ends(window_size, events);
  for (const Event& event : events) {
    if (!is_bid(event)) continue;
    ends.pass(event.at, close);
    std::vector<Bid>& highest = windows.holding(event.at);
    if (!highest.empty() && event.price < highest.front().price) [[likely]]
      continue;
    if (!highest.empty() && event.price > highest.front().price) highest.clear();
    highest.push_back(bid_of(event));
  }
  if (!events.empty()) ends.finish(events.back().at + window_size, close);
  return tally;
}

Tally floor_q12(Events events) {
  Tally tally;
  Spans<IdMap<std::int64_t>, 2> windows(window_size);
  const auto close = [&](EventTime end) {
    auto& window = windows.ending_at(end);
    for (const auto& [bidder, bids] : window) tally.add(BidderCount{bidder, bids});
    window.clear();
  };
  Ends ends(window_size, events);
  for (const Event& event : events) {
    if (!is_bid(event)) continue;
    ends.pass(event.at, close);
    ++windows.holding(event.at)[event.person];
  }
  if (!events.empty()) ends.finish(events.back().at + window_size, close);
  return tally;
}

}  // namespace millrace::bench
