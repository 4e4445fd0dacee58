#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/env/hash.hpp"
#include "millrace/env/int128.hpp"

namespace millrace {

/// Numbers that look random and are the same in every run and on every machine. A test names its
/// seed, so a failure is found again by running it again.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(mix64(seed)) {}

  std::uint64_t next() { return mix64(seed_ + 0x9E3779B97F4A7C15U * ++count_); }
  /// A number in [0, bound).
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<Uint128>(next()) * bound >> 64);
  }
  bool one_in(std::uint64_t bound) { return below(bound) == 0; }

  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace millrace
