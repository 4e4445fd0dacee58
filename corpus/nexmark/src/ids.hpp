#pragma once

#include <cstdint>

namespace millrace::nexmark {

// Events have ids without gaps, and an id says by itself what its event is: in every round of 50
// first a person, then three auctions, then 46 bids. So who and what exists at an id is known
// without memory. Persons and auctions are counted from 0 here, and called from 1000 outside.

inline constexpr std::int64_t round_length = 50;
inline constexpr std::int64_t persons_a_round = 1;
inline constexpr std::int64_t auctions_a_round = 3;

inline constexpr std::int64_t first_person = 1000;
inline constexpr std::int64_t first_auction = 1000;
inline constexpr std::int64_t first_category = 10;

/// The person of this event, or the last one before it.
constexpr std::int64_t last_person(std::int64_t event_id) { return event_id / round_length; }

/// The auction of this event, or the last one before it: -1 if there is none.
constexpr std::int64_t last_auction(std::int64_t event_id) {
  const std::int64_t opened = event_id % round_length - persons_a_round;
  const std::int64_t last = opened < auctions_a_round ? opened : auctions_a_round - 1;
  return event_id / round_length * auctions_a_round + last;
}

}  // namespace millrace::nexmark
