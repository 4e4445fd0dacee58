#pragma once

#include <cstdint>
#include <span>

#include "millrace/env/hash.hpp"
#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/results.hpp"

namespace millrace::bench {

// Marks of rows: equal for equal rows and, for all that a benchmark needs, different for others. Of
// rows that may be as many as the events they are cheap.

constexpr std::uint64_t word(std::int64_t number) { return static_cast<std::uint64_t>(number); }

template <class... Numbers>
constexpr std::uint64_t mixed(Numbers... numbers) {
  std::uint64_t mark = 0;
  ((mark = mix64(mark ^ word(numbers))), ...);
  return mark;
}

constexpr std::uint64_t mark(const nexmark::Event& event) {
  return (word(event.id) ^ word(event.price)) + (word(event.person) ^ word(event.at.ms));
}
constexpr std::uint64_t mark(const nexmark::Bid& bid) {
  return (word(bid.auction) ^ word(bid.price)) + (word(bid.bidder) ^ word(bid.at.ms));
}
constexpr std::uint64_t mark(const nexmark::WatchedBid& bid) {
  return word(bid.auction) ^ word(bid.price);
}
constexpr std::uint64_t mark(const nexmark::AuctionDay& row) {
  return (word(row.auction) ^ word(row.total)) + (word(row.bids) ^ word(row.average)) +
         (word(row.least) ^ word(row.most)) + word(row.first_rank) + 3 * word(row.second_rank) +
         5 * word(row.third_rank) + word(row.day.ms);
}
constexpr std::uint64_t mark(const nexmark::CategoryPrice& row) {
  return mixed(row.window_end.ms, row.category, row.price);
}
constexpr std::uint64_t mark(const nexmark::HotAuction& row) {
  return mixed(row.window_end.ms, row.auction, row.bids);
}
/// Without the name, which goes with the person.
constexpr std::uint64_t mark(const nexmark::NewSeller& row) {
  return mixed(row.window_end.ms, row.person, row.reserve);
}
constexpr std::uint64_t mark(const nexmark::BidSession& row) {
  return mixed(row.bidder, row.start.ms, row.end.ms, row.bids);
}
/// Of one bidder, marks add up as the counts do.
constexpr std::uint64_t mark(const nexmark::BidderCount& row) {
  return mixed(row.bidder) * word(row.bids);
}

/// How many rows a query gave, and the sum of their marks: equal for equal rows in any order.
struct Tally {
  std::uint64_t rows = 0;
  std::uint64_t check = 0;
  friend bool operator==(const Tally&, const Tally&) = default;

  template <class Row>
  void add(const Row& row) {
    ++rows;
    check += mark(row);
  }
};

template <class Rows>
Tally tally_of(const Rows& rows) {
  Tally tally;
  for (const auto& row : rows) tally.add(row);
  return tally;
}

}  // namespace millrace::bench
