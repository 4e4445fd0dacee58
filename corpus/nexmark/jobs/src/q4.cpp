// q4: the average price, per category and sliding window, of what was sold.
//
// An auction is sold to the highest bid with at least the reserve that was made before it expires,
// also before it opens. It counts at the last instant before it expires: then the watermark says
// that no such bid can come any more. The average is rounded, halves up.
//
// A bid waits for its auction for `patience` of event time, and counts if it opens by then. So do
// bids for an auction that is settled already, of which nothing is remembered.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "millrace/nexmark/queries.hpp"
#include "millrace/runtime/state/few.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {
namespace {

constexpr Duration patience{600'000};

struct Sale {
  std::int64_t category = 0;
  std::int64_t price = 0;
};

/// Per auction: finds out what it was sold for.
struct Settle {
  /// A bid that came before its auction.
  struct Early {
    EventTime at;
    std::int64_t price = 0;
  };
  struct State {
    EventTime expires = EventTime::max();  ///< Until the auction has come.
    std::int64_t category = 0;
    std::int64_t reserve = 0;
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    Few<Early> early;

    bool is_open() const { return expires < EventTime::max(); }
    void bid(EventTime at, std::int64_t price) {
      if (at < expires) best = std::max(best, price);
    }
  };
  using Output = Sale;

  template <class Context>
  void on_record(const Event& event, Context& here, Emit<Sale>&) const {
    State& auction = here.state();
    if (is_auction(event)) {
      open(auction, auction_of(event));
      here.wake(auction.expires - Duration{1});
    } else if (auction.is_open()) {
      auction.bid(event.at, event.price);
    } else {
      const bool is_first = auction.early.empty();
      const EventTime until = event.at + patience;
      auction.early.insert(auction.early.size(), {event.at, event.price});
      if (is_first || until > here.alarm()) here.wake(until);
    }
  }
  template <class Context>
  void on_alarm(Context& here, Emit<Sale>& out) const {
    const State& auction = here.state();
    const bool is_sold = auction.is_open() && auction.best >= auction.reserve;
    if (is_sold) out({auction.category, auction.best});
    here.forget();
  }

 private:
  static void open(State& auction, const Auction& opened) {
    auction.expires = opened.expires;
    auction.category = opened.category;
    auction.reserve = opened.reserve;
    for (std::uint32_t i = 0; i < auction.early.size(); ++i) {
      const Early& bid = auction.early[i];
      if (opened.at <= bid.at + patience) auction.bid(bid.at, bid.price);
    }
    auction.early = {};
  }
};

}  // namespace

Job q4(const Source<Event>& events, const Sink<CategoryPrice>& rows) {
  return Job("q4", all_of(events)
                       .filter([](const Event& event) { return !is_person(event); })
                       .key_by<&Event::id>()  // Of the auction, whichever it is.
                       .process("settle", Settle{})
                       .key_by<&Sale::category>()
                       .window(sliding(window_size, window_slide))
                       .aggregate("prices", all(sum<&Sale::price>(), count()))
                       .map([](const auto& sales) {
                         const auto [total, number] = sales.value;
                         const std::int64_t average = (2 * total + number) / (2 * number);
                         return CategoryPrice{sales.window.end, sales.key, average};
                       })
                       .to("q4", rows));
}

}  // namespace millrace::nexmark
