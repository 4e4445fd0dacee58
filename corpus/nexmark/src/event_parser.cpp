#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/text.hpp"

#include "json_fields.hpp"

namespace millrace::nexmark {
namespace {

using Place = std::optional<std::uint32_t>;

template <class List>
Place place_in(const List& list, std::string_view text) {
  const auto found = std::ranges::find(list, text);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::uint32_t>(std::distance(list.begin(), found));
}

Place place_of_name(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const Place first = place_in(first_names, text.substr(0, space));
  const Place last = place_in(last_names, text.substr(std::min(space + 1, text.size())));
  if (!first || !last) return std::nullopt;
  return name_at(*first, *last);
}

std::uint32_t known(std::string_view field, Place place) {
  if (!place) JsonFields::fail(field, "one of those that the generator has");
  return *place;
}

Person read_person(JsonFields& fields, Texts& texts) {
  Person person;
  person.id = fields.integer("id");
  person.at = fields.time("at");
  person.name = known("name", place_of_name(fields.text("name")));
  person.city = static_cast<std::uint16_t>(known("city", place_in(cities, fields.text("city"))));
  person.state = static_cast<std::uint16_t>(known("state", place_in(states, fields.text("state"))));
  texts.email = fields.text_if_any("email");
  texts.credit_card = fields.text_if_any("credit_card");
  return person;
}

Auction read_auction(JsonFields& fields, Texts& texts) {
  Auction auction;
  auction.id = fields.integer("id");
  auction.seller = fields.integer("seller");
  auction.category = fields.integer("category", 0, std::numeric_limits<std::uint8_t>::max());
  auction.initial_bid = fields.integer("initial_bid", 0, std::numeric_limits<std::uint32_t>::max());
  auction.reserve = fields.integer("reserve");
  auction.at = fields.time("at");
  auction.expires = fields.time("expires");
  texts.item = fields.text_if_any("item");
  texts.description = fields.text_if_any("description");
  return auction;
}

Bid read_bid(JsonFields& fields) {
  Bid bid;
  bid.auction = fields.integer("auction");
  bid.bidder = fields.integer("bidder");
  bid.price = fields.integer("price");
  bid.at = fields.time("at");
  return bid;
}

Event read_event(JsonFields& fields, Texts& texts) {
  const std::string_view kind = fields.text("kind");
  if (kind == "person") return event_of(read_person(fields, texts));
  if (kind == "auction") return event_of(read_auction(fields, texts));
  if (kind == "bid") return event_of(read_bid(fields));
  JsonFields::fail("kind", "person, auction or bid");
}

}  // namespace

EventParser::EventParser() : fields_(std::make_unique<JsonFields>()) {}
EventParser::~EventParser() = default;

Event EventParser::parse(std::string_view line) {
  Texts texts;
  return parse(line, texts);
}

Event EventParser::parse(std::string_view line, Texts& texts) {
  texts = {};
  fields_->read(line);
  const Event event = read_event(*fields_, texts);
  texts.extra = fields_->text_if_any("extra");
  fields_->expect_no_more();
  return event;
}

}  // namespace millrace::nexmark
