#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/env/event_time.hpp"

namespace millrace::nexmark {

// What the queries are asked with: the benchmark's own numbers.

inline constexpr Duration window_size{10'000};       ///< Of q4, q5, q7, q8, q12; the gap of q11.
inline constexpr Duration window_slide{5'000};       ///< Of q4, q5.
inline constexpr std::int64_t auction_skip = 123;    ///< q2: one auction in so many.
inline constexpr std::int64_t wanted_category = 10;  ///< q3
constexpr bool is_wanted_state(std::string_view state) {
  return state == "OR" || state == "ID" || state == "CA";
}

/// q1: dollars into euros, rounded down to a cent.
constexpr std::int64_t euros(std::int64_t cents) { return cents * 89 / 100; }

/// q17: the prices from which a bid is of the second and of the third rank.
inline constexpr std::int64_t second_rank_price = 10'000;
inline constexpr std::int64_t third_rank_price = 1'000'000;

}  // namespace millrace::nexmark
