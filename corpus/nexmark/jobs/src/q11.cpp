// q11: the number of bids per bidder and session. A bid belongs to the session of the one before it
// if it is made less than `window_size` later.
//
// To Millrace's sessions bids that are just the gap apart are in one (WL-8), to the benchmark they
// are in two. So the gap here is an instant shorter, and the session ends that much earlier.

#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {
namespace {

constexpr Duration instant{1};

}  // namespace

Job q11(const Source<Event>& events, const Sink<BidSession>& rows) {
  return Job(
      "q11",
      bids_of(events)
          .key_by<&Bid::bidder>()
          .window(sessions(window_size - instant))
          .aggregate("bids", count())
          .map([](const auto& session) {
            const Window window = session.window;
            return BidSession{session.key, window.start, window.end + instant, session.value};
          })
          .to("q11", rows));
}

}  // namespace millrace::nexmark
