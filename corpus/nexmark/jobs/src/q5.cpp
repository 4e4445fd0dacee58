// q5: the auctions with the most bids, all of them if there are several, per sliding window.
//
// Each subtask gives those that nobody of its own auctions beats; one task per window then keeps
// those that nobody beats at all.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"
#include "leaders.hpp"

namespace millrace::nexmark {

Job q5(const Source<Event>& events, const Sink<HotAuction>& rows) {
  // A result happens at the last instant of its window, and so in the slide that ends with it.
  return Job("q5", bids_of(events)
                       .key_by<&Bid::auction>()
                       .window(sliding(window_size, window_slide))
                       .aggregate("bids", count(), KeepLargest{})
                       .map([](const auto& hot) {
                         return HotAuction{hot.window.end, hot.key, hot.value};
                       })
                       .key_by<&HotAuction::window_end>()
                       .window(tumbling(window_slide))
                       .aggregate("hottest", Leaders<HotAuction, &HotAuction::bids>{})
                       .flat_map([](const auto& hottest) { return hottest.value; })
                       .to("q5", rows));
}

}  // namespace millrace::nexmark
