// q7: the bids with the highest price, all of them if there are several, per tumbling window.
//
// Every auction gives its highest bids of a window; one task per window then keeps the highest of
// these.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"
#include "leaders.hpp"

namespace millrace::nexmark {

Job q7(const Source<Event>& events, const Sink<Bid>& rows) {
  using Highest = Leaders<Bid, &Bid::price>;
  const auto bids_in = [](const auto& highest) { return highest.value; };
  const auto window_of = [](const Bid& bid) { return floor_to(bid.at, window_size, Duration{0}); };
  return Job("q7", bids_of(events)
                       .key_by<&Bid::auction>()
                       .window(tumbling(window_size))
                       .aggregate("highest_of_auction", Highest{})
                       .flat_map(bids_in)
                       .key_by(window_of)
                       .window(tumbling(window_size))
                       .aggregate("highest", Highest{})
                       .flat_map(bids_in)
                       .to("q7", rows));
}

}  // namespace millrace::nexmark
