#include "millrace/nexmark/generator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/nexmark/java_random.hpp"
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

constexpr std::int64_t us_per_second = 1'000'000;
constexpr std::int32_t bytes_per_number = 8;

std::int64_t hot(std::int64_t last) { return last / hot_among * hot_among; }

std::int32_t size_of(const std::string& text) { return static_cast<std::int32_t>(text.size()); }

template <class Count>
std::uint32_t draw_place(JavaRandom& random, Count count) {
  return static_cast<std::uint32_t>(random.next_int(static_cast<std::int32_t>(count)));
}

std::int64_t draw_person(JavaRandom& random, std::int64_t event_id, const GeneratorConfig& config) {
  const std::int64_t come = last_person(event_id) + 1;
  const std::int64_t active = std::min(come, config.active_people);
  return come - active + draw_below(random, active + lead);
}

std::int64_t draw_auction(JavaRandom& random, std::int64_t event_id,
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

Person make_person(JavaRandom& random, std::int64_t event_id, EventTime at,
                   const GeneratorConfig& config, Texts* texts) {
  Person person{.id = first_person + last_person(event_id), .at = at};
  const std::uint32_t first = draw_place(random, first_names.size());
  person.name = name_at(first, draw_place(random, last_names.size()));
  draw_email(random, texts == nullptr ? nullptr : &texts->email);
  draw_credit_card(random, texts == nullptr ? nullptr : &texts->credit_card);
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

/// `horizon` is how long it takes until as many auctions as are in flight have been opened anew: an
/// auction lasts that long on average.
Auction make_auction(JavaRandom& random, std::int64_t event_id, EventTime at, Duration horizon,
                     const GeneratorConfig& config, Texts* texts) {
  Auction auction;
  auction.id = first_auction + last_auction(event_id);
  auction.at = at;
  const bool is_hot = random.next_int(config.hot_seller_ratio) > 0;
  auction.seller =
      first_person + (is_hot ? hot(last_person(event_id)) : draw_person(random, event_id, config));
  auction.category = first_category + random.next_int(categories);
  auction.initial_bid = price_of(random.next_fraction());
  const std::int64_t longest = std::max<std::int64_t>(2 * horizon.count(), 1);
  auction.expires = at + Duration{1 + draw_below(random, longest)};
  draw_words(random, 20, texts == nullptr ? nullptr : &texts->item);
  draw_words(random, 100, texts == nullptr ? nullptr : &texts->description);
  auction.reserve = auction.initial_bid + price_of(random.next_fraction());
  if (texts != nullptr) {
    const std::int32_t size =
        6 * bytes_per_number + size_of(texts->item) + size_of(texts->description);
    texts->extra = draw_padding(random, size, config.auction_bytes);
  }
  return auction;
}

Bid make_bid(JavaRandom& random, std::int64_t event_id, EventTime at, const GeneratorConfig& config,
             Texts* texts) {
  Bid bid{.at = at};
  const bool is_hot_auction = random.next_int(config.hot_auction_ratio) > 0;
  bid.auction = first_auction + (is_hot_auction ? hot(last_auction(event_id))
                                                : draw_auction(random, event_id, config));
  const bool is_hot_bidder = random.next_int(config.hot_bidder_ratio) > 0;
  bid.bidder = first_person + (is_hot_bidder ? hot(last_person(event_id)) + 1
                                             : draw_person(random, event_id, config));
  bid.price = price_of(random.next_fraction());
  if (texts != nullptr) {
    texts->extra = draw_padding(random, 4 * bytes_per_number, config.bid_bytes);
  }
  return bid;
}

void check(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw UsageError(
      fmt::format("nexmark: `{}` is {}; {} to {} is expected", name, value, least, most));
}

/// Rounded before the generators share it: three events a second are 333,333 us apart.
std::int64_t us_between(const GeneratorConfig& config) {
  check("events_per_second", config.events_per_second, 1, us_per_second);
  check("generators", config.generators, 1, 1000);
  return (us_per_second + config.events_per_second / 2) / config.events_per_second *
         config.generators;
}

/// Nothing within these bounds overflows, and no time lies outside of what a record may carry.
void check(const GeneratorConfig& config) {
  constexpr std::int64_t large = 1'000'000;
  constexpr std::int64_t longest_us = 100'000'000'000'000'000;
  check("events", config.events, 0, longest_us / us_between(config));
  check("first_event_id", config.first_event_id, 0, large * large);
  check("base_time", config.base_time.ms, 0, latest_event_time.ms / 2);
  check("out_of_order_group", config.out_of_order_group, 1, large);
  check("hot_auction_ratio", config.hot_auction_ratio, 1, large);
  check("hot_seller_ratio", config.hot_seller_ratio, 1, large);
  check("hot_bidder_ratio", config.hot_bidder_ratio, 1, large);
  check("auctions_in_flight", config.auctions_in_flight, 1, large);
  check("active_people", config.active_people, 1, large);
  check("person_bytes", config.person_bytes, 0, large);
  check("auction_bytes", config.auction_bytes, 0, large);
  check("bid_bytes", config.bid_bytes, 0, large);
}

}  // namespace

std::vector<GeneratorConfig> split(const GeneratorConfig& config) {
  check(config);
  std::vector<GeneratorConfig> parts(static_cast<std::size_t>(config.generators), config);
  const std::int64_t share = config.events / config.generators;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].first_event_id += static_cast<std::int64_t>(i) * share;
    parts[i].events = share;
  }
  parts.back().events += config.events % config.generators;
  return parts;
}

Generator::Generator(const GeneratorConfig& config)
    : config_(config), us_per_event_(us_between(config)) {
  check(config);
}

std::int64_t Generator::number_at(std::int64_t place) const {
  constexpr std::int64_t stride = 953;
  const std::int64_t group = config_.out_of_order_group;
  if (group == 1) return place;  // Saves most of the divisions.
  return place / group * group + place * stride % group;
}

EventTime Generator::time_of(std::int64_t number) const {
  return config_.base_time + Duration{number * us_per_event_ / 1000};
}

EventTime Generator::watermark_at(std::int64_t place) const {
  const std::int64_t group = config_.out_of_order_group;
  return time_of(place / group * group);
}

Event Generator::make(std::int64_t place, Texts* texts) const {
  const std::int64_t number = number_at(place);
  const std::int64_t event_id = config_.first_event_id + number;
  const EventTime at = time_of(number);
  if (texts != nullptr) *texts = {};
  JavaRandom random(event_id);
  const std::int64_t in_round = event_id % round_length;
  if (in_round < persons_a_round) {
    return event_of(make_person(random, event_id, at, config_, texts));
  }
  if (in_round < persons_a_round + auctions_a_round) {
    const std::int64_t ahead = config_.auctions_in_flight * round_length / auctions_a_round;
    const Duration horizon = time_of(number + ahead) - at;
    return event_of(make_auction(random, event_id, at, horizon, config_, texts));
  }
  return event_of(make_bid(random, event_id, at, config_, texts));
}

std::vector<Event> all_events(const GeneratorConfig& config) {
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(config.events));
  for (const GeneratorConfig& part : split(config)) {
    const Generator generator(part);
    for (std::int64_t i = 0; i < generator.size(); ++i) events.push_back(generator.at(i));
  }
  return events;
}

}  // namespace millrace::nexmark
