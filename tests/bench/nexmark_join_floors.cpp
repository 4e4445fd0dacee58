#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "millrace/nexmark/queries.hpp"

#include "nexmark_state.hpp"

namespace millrace::bench {

using namespace nexmark;

namespace {

/// What was sold in a pane, by category.
struct Sales {
  struct Sum {
    std::int64_t total = 0;
    std::int64_t count = 0;
  };
  std::array<Sum, 256> categories{};
};

/// An auction from its first bid on, which may come before it opens, until it has expired.
struct OpenAuction {
  std::int64_t best = 0;
  EventTime expires = EventTime::max();
  std::int64_t reserve = 0;
  std::int64_t category = 0;
};

/// Auctions are settled so many at once. Fewer would cost more steps, more would keep them longer.
constexpr Duration settled_at_once = window_slide / 10;

class Sale {
 public:
  explicit Sale(Events events)
      : settlements_(settled_at_once, events), ends_(window_slide, events) {}

  void pass(EventTime newest) {
    settlements_.pass(newest, [this](EventTime end) { settle(end); });
    ends_.pass(newest, [this](EventTime end) { close(end); });
  }
  void finish(EventTime last) {
    settlements_.finish(last, [this](EventTime end) { settle(end); });
    ends_.finish(last, [this](EventTime end) { close(end); });
  }

  void bid(const Event& event) {
    OpenAuction& auction = auctions_[event.id];
    if (event.at < auction.expires) auction.best = std::max(auction.best, event.price);
  }
  void open(const Event& event) {
    OpenAuction& auction = auctions_[event.id];
    auction.expires = event.expires;
    auction.reserve = event.price;
    auction.category = event.codes[0];
    expiring_[span_end(event.expires - Duration{1}, settled_at_once)].push_back(event.id);
    last_expires_ = std::max(last_expires_, event.expires);
  }

  EventTime last_expires() const { return last_expires_; }
  const Tally& tally() const { return tally_; }

 private:
  void settle(EventTime end) {
    const auto expired = expiring_.find(end);
    if (expired == expiring_.end()) return;
    Sales& sales = panes_[span_end(end - Duration{1}, window_slide)];
    for (const std::int64_t id : expired->second) {
      const auto found = auctions_.find(id);
      const OpenAuction& auction = found->second;
      if (auction.best >= auction.reserve) {
        Sales::Sum& sum = sales.categories[static_cast<std::size_t>(auction.category)];
        sum.total += auction.best;
        ++sum.count;
      }
      auctions_.erase(found);
    }
    expiring_.erase(expired);
  }

  void close(EventTime end) {
    for (std::size_t category = 0; category < 256; ++category) {
      Sales::Sum sum;
      for (auto pane = panes_.begin(); pane != panes_.end() && pane->first <= end; ++pane) {
        sum.total += pane->second.categories[category].total;
        sum.count += pane->second.categories[category].count;
      }
      if (sum.count == 0) continue;
      const std::int64_t average = (2 * sum.total + sum.count) / (2 * sum.count);
      tally_.add(CategoryPrice{end, static_cast<std::int64_t>(category), average});
    }
    panes_.erase(panes_.begin(), panes_.upper_bound(end - window_size + window_slide));
  }

  Tally tally_;
  IdMap<OpenAuction> auctions_;
  std::map<EventTime, std::vector<std::int64_t>> expiring_;
  std::map<EventTime, Sales> panes_;
  EventTime last_expires_;
  Ends settlements_;
  Ends ends_;
};

/// Who came in a window, and what was offered in it.
struct Comers {
  struct Offer {
    std::int64_t seller;
    std::int64_t reserve;
  };
  IdMap<std::uint8_t> names;
  std::vector<Offer> offers;
};

}  // namespace

Tally floor_q4(Events events) {
  Sale sale(events);
  for (const Event& event : events) {
    if (is_person(event)) continue;
    sale.pass(event.at);
    if (is_bid(event)) {
      sale.bid(event);
    } else {
      sale.open(event);
    }
  }
  if (!events.empty()) sale.finish(sale.last_expires() + window_size);
  return sale.tally();
}

Tally floor_q8(Events events) {
  Tally tally;
  Spans<Comers, 2> windows(window_size);
  const auto close = [&](EventTime end) {
    Comers& window = windows.ending_at(end);
    for (const auto& [seller, reserve] : window.offers) {
      if (!window.names.contains(seller)) continue;
      tally.add(NewSeller{end, seller, {}, reserve});
    }
    window.names.clear();
    window.offers.clear();
  };
  Ends ends(window_size, events);
  for (const Event& event : events) {
    if (is_bid(event)) continue;
    ends.pass(event.at, close);
    Comers& window = windows.holding(event.at);
    if (is_person(event)) {
      window.names.emplace(event.id, event.codes[0]);
    } else {
      window.offers.push_back({event.person, event.price});
    }
  }
  if (!events.empty()) ends.finish(events.back().at + window_size, close);
  return tally;
}

}  // namespace millrace::bench
