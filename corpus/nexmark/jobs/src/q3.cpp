// q3: name, city and state of the seller, and the auction, for every auction of `wanted_category`
// by a person of a wanted state, whichever of the two comes first. A join without end.
//
// A person and the auctions that wait for one are remembered for ever: Beam forgets them after
// 600 s of event time, and its rows then depend on what came in between. An id is one person's.

#include <optional>
#include <vector>

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {
namespace {

struct Sale {
  Person seller;
  std::int64_t auction = 0;
};

/// Per seller: pairs each auction with the person.
struct PairSales {
  struct State {
    std::optional<Person> seller;
    std::vector<std::int64_t> waiting;  ///< Auctions that came before the person.
  };
  using Output = Sale;

  template <class Context>
  void on_left(const Person& person, Context& here, Emit<Sale>& out) const {
    State& known = here.state();
    if (known.seller) return;
    known.seller = person;
    for (const std::int64_t auction : known.waiting) out({person, auction});
    known.waiting.clear();
  }
  template <class Context>
  void on_right(const Auction& auction, Context& here, Emit<Sale>& out) const {
    State& known = here.state();
    if (known.seller) {
      out({*known.seller, auction.id});
    } else {
      known.waiting.push_back(auction.id);
    }
  }
};

LocalOffer offer_of(const Sale& sale) {
  const Person& seller = sale.seller;
  return {name_text(seller.name), std::string(cities[seller.city]),
          std::string(states[seller.state]), sale.auction};
}

}  // namespace

Job q3(const Source<Event>& events, const Sink<LocalOffer>& rows) {
  const auto all = all_of(events);
  const auto locals = all.filter<&is_person>().map<&person_of>().filter(
      [](const Person& person) { return is_wanted_state(states[person.state]); });
  const auto wanted = all.filter<&is_auction>().map<&auction_of>().filter(
      [](const Auction& auction) { return auction.category == wanted_category; });
  return Job("q3", locals.key_by<&Person::id>()
                       .with(wanted.key_by<&Auction::seller>())
                       .process("local_offers", PairSales{})
                       .map<&offer_of>()
                       .to("q3", rows));
}

}  // namespace millrace::nexmark
