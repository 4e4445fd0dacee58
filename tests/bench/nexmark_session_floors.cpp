#include <vector>

#include "millrace/nexmark/queries.hpp"

#include "nexmark_state.hpp"

namespace millrace::bench {

using namespace nexmark;

Tally floor_q11(Events events) {
  struct Session {
    EventTime start;
    EventTime end;
    std::int64_t bids = 0;
  };
  Tally tally;
  IdMap<Session> sessions;
  const auto give = [&](std::int64_t bidder, const Session& session) {
    tally.add(BidSession{bidder, session.start, session.end, session.bids});
  };
  // Whoever may be silent by a certain second. Each bidder with a session stands in one of them,
  // and is looked at only then: a bid moves nobody. A session ends at most a gap after the newest
  // bid, and is looked at when the watermark comes there.
  constexpr Duration second{1'000};
  Spans<std::vector<std::int64_t>, 32> silent(second);
  static_assert(32 * second > window_size + disorder + 2 * second);
  const auto close = [&](EventTime end) {
    std::vector<std::int64_t> bidders;
    bidders.swap(silent.ending_at(end));
    for (const std::int64_t bidder : bidders) {
      const auto found = sessions.find(bidder);
      const Session& session = found->second;
      if (session.end <= end) {
        give(bidder, session);
        sessions.erase(found);
      } else {
        silent.ending_at(span_end(session.end - Duration{1}, second)).push_back(bidder);
      }
    }
  };
  Ends ends(second, events);
  for (const Event& event : events) {
    if (!is_bid(event)) continue;
    ends.pass(event.at, close);
    Session& session = sessions[event.person];
    if (session.bids == 0) {
      const EventTime latest = event.at + window_size - Duration{1};
      silent.ending_at(span_end(latest, second)).push_back(event.person);
      session.start = event.at;
    } else if (event.at >= session.end) {
      give(event.person, session);
      session = {event.at, event.at, 0};
    }
    session.end = event.at + window_size;
    ++session.bids;
  }
  if (!events.empty()) ends.finish(events.back().at + window_size + second, close);
  return tally;
}

}  // namespace millrace::bench
