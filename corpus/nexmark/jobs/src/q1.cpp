// q1: every bid, its price in euros. A step per row.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {

Job q1(const Source<Event>& events, const Sink<Bid>& rows) {
  const auto in_euros = [](Bid bid) {
    bid.price = euros(bid.price);
    return bid;
  };
  return Job("q1", bids_of(events).map(in_euros).to("q1", rows));
}

}  // namespace millrace::nexmark
