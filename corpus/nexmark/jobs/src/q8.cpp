// q8: every auction whose seller came in the same tumbling window: id and name of the seller, and
// the reserve.

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/queries.hpp"

#include "events_of.hpp"

namespace millrace::nexmark {

Job q8(const Source<Event>& events, const Sink<NewSeller>& rows) {
  const auto all = all_of(events);
  const auto persons = all.filter<&is_person>().map<&person_of>();
  const auto auctions = all.filter<&is_auction>().map<&auction_of>();
  const auto seller_of = [](const Person& person, const Auction& auction, Window window) {
    return NewSeller{window.end, person.id, name_text(person.name), auction.reserve};
  };
  return Job("q8", persons.key_by<&Person::id>()
                       .with(auctions.key_by<&Auction::seller>())
                       .window(tumbling(window_size))
                       .join("new_sellers", seller_of)
                       .to("q8", rows));
}

}  // namespace millrace::nexmark
