// q2: auction and price of every bid for an auction whose id `auction_skip` divides. A filter that
// lets little through.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {

Job q2(const Source<Event>& events, const Sink<WatchedBid>& rows) {
  return Job("q2", bids_of(events)
                       .filter([](const Bid& bid) { return bid.auction % auction_skip == 0; })
                       .map([](const Bid& bid) {
                         return WatchedBid{bid.auction, bid.price};
                       })
                       .to("q2", rows));
}

}  // namespace millrace::nexmark
