// q7: the bids with the highest price, all of them if there are several, per tumbling window.
//
// Bids are dealt to a few groups, so that several subtasks can look for the highest; one task per
// window then keeps the highest of theirs.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"
#include "leaders.hpp"

namespace millrace::nexmark {

Job q7(const Source<Event>& events, const Sink<Bid>& rows) {
  using Highest = Leaders<Bid, &Bid::price>;
  constexpr std::int64_t groups = 64;
  const auto group_of = [](const Bid& bid) { return bid.auction % groups; };
  const auto window_of = [](const Bid& bid) { return floor_to(bid.at, window_size, Duration{0}); };
  const auto bids_in = [](const auto& highest) { return highest.value; };
  return Job("q7", bids_of(events)
                       .key_by(group_of)
                       .window(tumbling(window_size))
                       .aggregate("highest_of_group", Highest{})
                       .flat_map(bids_in)
                       .key_by(window_of)
                       .window(tumbling(window_size))
                       .aggregate("highest", Highest{})
                       .flat_map(bids_in)
                       .to("q7", rows));
}

}  // namespace millrace::nexmark
