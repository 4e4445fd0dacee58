// q18: the last bid per bidder and auction. Of several at one time it is the one with the highest
// price, so that it does not matter which of them came first.
//
// A row for every bid, in the place of the one before: the last one so far.

#include <tuple>
#include <utility>

#include "events_of.hpp"

namespace millrace::nexmark {

Job q18(const Source<Event>& events, const Sink<Bid>& rows) {
  const auto later = [](const Bid& known, const Bid& next) {
    return std::tie(known.at, known.price) < std::tie(next.at, next.price) ? next : known;
  };
  return Job("q18", bids_of(events)
                        .key_by([](const Bid& bid) { return std::pair(bid.bidder, bid.auction); })
                        .reduce("last", later)
                        .to("q18", rows));
}

}  // namespace millrace::nexmark
