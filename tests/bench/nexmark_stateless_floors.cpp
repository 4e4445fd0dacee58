#include "millrace/nexmark/queries.hpp"

#include "nexmark_batch.hpp"
#include "nexmark_floors.hpp"

namespace millrace::bench {

using namespace nexmark;

Tally floor_q0(Events events) {
  RowBatch<Event> rows;
  for (const Event& event : events) rows.add(event);
  return rows.read();
}

Tally floor_q1(Events events) {
  RowBatch<Bid> rows;
  for (const Event& event : events) {
    if (!is_bid(event)) continue;
    Bid bid = bid_of(event);
    bid.price = euros(bid.price);
    rows.add(bid);
  }
  return rows.read();
}

Tally floor_q2(Events events) {
  RowBatch<WatchedBid> rows;
  for (const Event& event : events) {
    if (is_bid(event) && event.id % auction_skip == 0) rows.add({event.id, event.price});
  }
  return rows.read();
}

}  // namespace millrace::bench
