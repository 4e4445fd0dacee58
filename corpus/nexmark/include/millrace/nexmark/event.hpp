#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "millrace/env/event_time.hpp"

namespace millrace::nexmark {

// The three things that happen in an auction house, each a row without padding, and Event, which is
// one of them. Money is in cents. Texts that no query looks at are in texts.hpp.

/// Somebody comes, who may sell and bid.
struct Person {
  std::int64_t id = 0;
  EventTime at;
  std::uint32_t name = 0;  ///< These three are places in lists: names.hpp.
  std::uint16_t city = 0;
  std::uint16_t state = 0;
  friend auto operator<=>(const Person&, const Person&) = default;
};

/// Something is offered.
struct Auction {
  std::int64_t id = 0;
  std::int64_t seller = 0;  ///< May be somebody who comes a little later.
  std::int64_t category = 0;
  std::int64_t initial_bid = 0;
  std::int64_t reserve = 0;  ///< What it is not sold below.
  EventTime at;
  EventTime expires;  ///< From then on no bid counts.
  friend auto operator<=>(const Auction&, const Auction&) = default;
};

/// Somebody offers a price.
struct Bid {
  std::int64_t auction = 0;  ///< May be one that is opened a little later.
  std::int64_t bidder = 0;
  std::int64_t price = 0;
  EventTime at;
  friend auto operator<=>(const Bid&, const Bid&) = default;
};

enum class EventKind : std::uint8_t { person, auction, bid };
constexpr bool is_known(EventKind kind) { return kind <= EventKind::bid; }

/// One of the three, in 48 bytes: a stream of them is read as fast as memory gives them. Made and
/// taken apart by the functions below; what a kind has no use for is zero, so equal events are
/// equal bytes.
struct Event {
  EventKind kind = EventKind::person;
  std::array<std::uint8_t, 3> codes{};  ///< A person's name, city and state; an auction's category.
  std::uint32_t initial_bid = 0;
  EventTime at;
  std::int64_t id = 0;      ///< Of the person, of the auction, of the auction that is bid for.
  std::int64_t person = 0;  ///< Seller or bidder.
  std::int64_t price = 0;   ///< The reserve, or what is bid.
  EventTime expires{0};
  friend auto operator<=>(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 48);

constexpr Event event_of(const Person& person) {
  Event event{.kind = EventKind::person, .at = person.at, .id = person.id};
  event.codes = {static_cast<std::uint8_t>(person.name), static_cast<std::uint8_t>(person.city),
                 static_cast<std::uint8_t>(person.state)};
  return event;
}

/// The category is less than 256, the initial bid less than 2^32.
constexpr Event event_of(const Auction& auction) {
  return {.kind = EventKind::auction,
          .codes = {static_cast<std::uint8_t>(auction.category)},
          .initial_bid = static_cast<std::uint32_t>(auction.initial_bid),
          .at = auction.at,
          .id = auction.id,
          .person = auction.seller,
          .price = auction.reserve,
          .expires = auction.expires};
}

constexpr Event event_of(const Bid& bid) {
  return {.kind = EventKind::bid,
          .at = bid.at,
          .id = bid.auction,
          .person = bid.bidder,
          .price = bid.price};
}

constexpr bool is_person(const Event& event) { return event.kind == EventKind::person; }
constexpr bool is_auction(const Event& event) { return event.kind == EventKind::auction; }
constexpr bool is_bid(const Event& event) { return event.kind == EventKind::bid; }

// Each is for events of its kind only.

constexpr Person person_of(const Event& event) {
  return {event.id, event.at, event.codes[0], event.codes[1], event.codes[2]};
}
constexpr Auction auction_of(const Event& event) {
  return {event.id,    event.person, event.codes[0], event.initial_bid,
          event.price, event.at,     event.expires};
}
constexpr Bid bid_of(const Event& event) { return {event.id, event.person, event.price, event.at}; }

}  // namespace millrace::nexmark
