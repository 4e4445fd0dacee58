// q12: bids per bidder in windows of a clock. One begins with a bidder's first bid and lasts
// `window_size`; then its count comes out, and the next bid begins another. What is counted when
// the input ends comes out then.
//
// Which bids are in one window is no function of the events: it depends on when the node's clock
// read them, and after a crash they are read again at another time. Every bid is in one count that
// stays, so that a bidder's counts add up to all bids.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {
namespace {

auto counts_of(const Source<Event>& events, Duration span) {
  return bids_of(events)
      .key_by<&Bid::bidder>()
      .window(global())
      .trigger(every_wall(span))
      .purging()
      .aggregate("bids", count())
      .map([](const auto& counted) {
        return BidderCount{counted.key, counted.value};
      });
}

}  // namespace

Job q12(const Source<Event>& events, const Sink<BidderCount>& rows) {
  return Job("q12", counts_of(events, window_size).to("q12", rows));
}

Job q12_total(const Source<Event>& events, const Sink<BidderCount>& rows) {
  const auto plus = [](const BidderCount& sum, const BidderCount& next) {
    return BidderCount{sum.bidder, sum.bids + next.bids};
  };
  return Job("q12", counts_of(events, Duration{1'000})
                        .key_by<&BidderCount::bidder>()
                        .reduce("total", plus)
                        .to("q12", rows));
}

}  // namespace millrace::nexmark
