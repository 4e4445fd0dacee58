#include "event_draws.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/price.hpp"

#include "draws.hpp"
#include "ids.hpp"

namespace millrace::nexmark {
namespace {

/// Who is hot: the first auction or seller, and the second bidder, of each hundred.
constexpr std::int64_t hot_among = 100;
/// How many persons and auctions that do not exist yet may be named already.
constexpr std::int64_t lead = 10;
constexpr std::int32_t categories = 5;

constexpr std::int32_t bytes_per_number = 8;

std::int64_t hot(std::int64_t last) { return last / hot_among * hot_among; }

std::int32_t size_of(const std::string& text) { return static_cast<std::int32_t>(text.size()); }

template <class Count>
std::uint32_t draw_place(JavaRandom& random, Count count) {
  return static_cast<std::uint32_t>(random.next_int(static_cast<std::int32_t>(count)));
}

std::int64_t draw_person_id(JavaRandom& random, std::int64_t event_id,
                            const GeneratorConfig& config) {
  const std::int64_t come = last_person(event_id) + 1;
  const std::int64_t active = std::min(come, config.active_people);
  return come - active + draw_below(random, active + lead);
}

std::int64_t draw_auction_id(JavaRandom& random, std::int64_t event_id,
                             const GeneratorConfig& config) {
  const std::int64_t newest = last_auction(event_id);
  const std::int64_t oldest = std::max<std::int64_t>(newest - config.auctions_in_flight, 0);
  return oldest + draw_below(random, newest - oldest + 1 + lead);
}

void draw_credit_card(JavaRandom& random, std::string* text) {
  if (text != nullptr) text->clear();
  for (int group = 0; group < 4; ++group) {
    const std::int32_t digits = random.next_int(10'000);
    if (text != nullptr) *text += fmt::format("{}{:04}", group > 0 ? " " : "", digits);
  }
}

void draw_email(JavaRandom& random, std::string* text) {
  std::string host;
  draw_words(random, 7, text);
  draw_words(random, 5, text == nullptr ? nullptr : &host);
  if (text != nullptr) *text += "@" + host + ".com";
}

/// Where a text is kept, if any is.
std::string* kept(Texts* texts, std::string Texts::*text) {
  return texts == nullptr ? nullptr : &(texts->*text);
}

}  // namespace

Person draw_person(JavaRandom& random, std::int64_t event_id, EventTime at,
                   const GeneratorConfig& config, Texts* texts) {
  Person person{.id = first_person + last_person(event_id), .at = at};
  const std::uint32_t first = draw_place(random, first_names.size());
  person.name = name_at(first, draw_place(random, last_names.size()));
  draw_email(random, kept(texts, &Texts::email));
  draw_credit_card(random, kept(texts, &Texts::credit_card));
  person.city = static_cast<std::uint16_t>(draw_place(random, cities.size()));
  person.state = static_cast<std::uint16_t>(draw_place(random, states.size()));
  if (texts != nullptr) {
    const std::int32_t size = bytes_per_number + size_of(name_text(person.name)) +
                              size_of(texts->email) + size_of(texts->credit_card) +
                              static_cast<std::int32_t>(cities[person.city].size()) +
                              static_cast<std::int32_t>(states[person.state].size());
    texts->extra = draw_padding(random, size, config.person_bytes);
  }
  return person;
}

Auction draw_auction(JavaRandom& random, std::int64_t event_id, EventTime at, Duration horizon,
                     const GeneratorConfig& config, Texts* texts) {
  Auction auction;
  auction.id = first_auction + last_auction(event_id);
  auction.at = at;
  const bool is_hot = random.next_int(config.hot_seller_ratio) > 0;
  auction.seller = first_person +
                   (is_hot ? hot(last_person(event_id)) : draw_person_id(random, event_id, config));
  auction.category = first_category + random.next_int(categories);
  auction.initial_bid = price_of(random.next_fraction());
  const std::int64_t longest = std::max<std::int64_t>(2 * horizon.count(), 1);
  auction.expires = at + Duration{1 + draw_below(random, longest)};
  draw_words(random, 20, kept(texts, &Texts::item));
  draw_words(random, 100, kept(texts, &Texts::description));
  auction.reserve = auction.initial_bid + price_of(random.next_fraction());
  if (texts != nullptr) {
    const std::int32_t size =
        6 * bytes_per_number + size_of(texts->item) + size_of(texts->description);
    texts->extra = draw_padding(random, size, config.auction_bytes);
  }
  return auction;
}

Bid draw_bid(JavaRandom& random, std::int64_t event_id, EventTime at, const GeneratorConfig& config,
             Texts* texts) {
  Bid bid{.at = at};
  const bool is_hot_auction = random.next_int(config.hot_auction_ratio) > 0;
  bid.auction = first_auction + (is_hot_auction ? hot(last_auction(event_id))
                                                : draw_auction_id(random, event_id, config));
  const bool is_hot_bidder = random.next_int(config.hot_bidder_ratio) > 0;
  bid.bidder = first_person + (is_hot_bidder ? hot(last_person(event_id)) + 1
                                             : draw_person_id(random, event_id, config));
  bid.price = price_of(random.next_fraction());
  if (texts != nullptr) {
    texts->extra = draw_padding(random, 4 * bytes_per_number, config.bid_bytes);
  }
  return bid;
}

}  // namespace millrace::nexmark
