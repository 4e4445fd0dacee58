#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace millrace {

/// Asks a large table for the lines of keys to come while others are handled: with more keys than
/// fit into a cache, that is worth a factor of two.
///
/// `hashes` are those of all keys, in order; `next` is called once for each, and what it returns
/// goes into `Table::at` or `find`. The table may change meanwhile, and be another one each time.
template <class Table>
class LookAhead {
 public:
  using Guess = typename Table::Guess;

  LookAhead(const Table& table, std::span<const std::uint64_t> hashes) : hashes_(hashes) {
    for (std::size_t i = 0; i < std::min(far, hashes.size()); ++i) table.prefetch(hashes[i]);
    for (std::size_t i = 0; i < std::min(near, hashes.size()); ++i) {
      guesses_[i] = table.prefetch_entry(hashes[i]);
    }
  }

  [[gnu::always_inline]] Guess next(const Table& table) {
    if (at_ + far < hashes_.size()) table.prefetch(hashes_[at_ + far]);
    const Guess guess = guesses_[at_ % guesses_.size()];
    if (at_ + near < hashes_.size()) {
      guesses_[(at_ + near) % guesses_.size()] = table.prefetch_entry(hashes_[at_ + near]);
    }
    ++at_;
    return guess;
  }

 private:
  static constexpr std::size_t far = 24;
  static constexpr std::size_t near = 12;

  std::span<const std::uint64_t> hashes_;
  std::size_t at_ = 0;
  std::array<Guess, 16> guesses_;
};

}  // namespace millrace
