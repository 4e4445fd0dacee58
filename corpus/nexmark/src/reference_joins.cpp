#include <map>
#include <utility>

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/queries.hpp"

#include "reference_rows.hpp"
#include "reference_windows.hpp"

namespace millrace::nexmark::reference {

std::vector<LocalOffer> q3(Events events) {
  std::map<std::int64_t, Person> locals;
  for_each_person(events, [&](const Person& person) {
    if (is_wanted_state(states[person.state])) locals.emplace(person.id, person);
  });
  std::vector<LocalOffer> rows;
  for_each_auction(events, [&](const Auction& auction) {
    const auto seller = locals.find(auction.seller);
    if (auction.category != wanted_category || seller == locals.end()) return;
    const Person& person = seller->second;
    rows.push_back({name_text(person.name), std::string(cities[person.city]),
                    std::string(states[person.state]), auction.id});
  });
  return sorted(std::move(rows));
}

std::vector<NewSeller> q8(Events events) {
  std::map<std::pair<EventTime, std::int64_t>, Person> comers;
  for_each_person(events, [&](const Person& person) {
    comers.emplace(std::pair(tumbling_end(person.at), person.id), person);
  });
  std::vector<NewSeller> rows;
  for_each_auction(events, [&](const Auction& auction) {
    const EventTime end = tumbling_end(auction.at);
    const auto seller = comers.find({end, auction.seller});
    if (seller == comers.end()) return;
    rows.push_back({end, auction.seller, name_text(seller->second.name), auction.reserve});
  });
  return sorted(std::move(rows));
}

}  // namespace millrace::nexmark::reference
