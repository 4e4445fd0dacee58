#include "nexmark_floors.hpp"

namespace millrace::bench {

std::span<const Floor> floors() {
  // At 100,000 events a second q5 has 60,000 auctions a window, at a million ten times as many: the
  // former are in the second cache, the latter are not.
  constexpr std::int64_t usual = 100'000;
  constexpr std::int64_t fast = 1'000'000;
  static constexpr Floor list[] = {
      {"q0", usual, floor_q0},   {"q1", usual, floor_q1},   {"q2", usual, floor_q2},
      {"q4", usual, floor_q4},   {"q5", usual, floor_q5},   {"q7", usual, floor_q7},
      {"q8", usual, floor_q8},   {"q11", usual, floor_q11}, {"q12", usual, floor_q12},
      {"q17", usual, floor_q17}, {"q5-1M", fast, floor_q5},
  };
  return list;
}

}  // namespace millrace::bench
