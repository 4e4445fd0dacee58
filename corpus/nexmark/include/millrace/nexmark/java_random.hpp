#pragma once

#include <bit>
#include <cstdint>

namespace millrace::nexmark {

/// The generator of Java's standard library, whose every draw is part of its documented contract:
/// a linear congruential sequence of 48 bits. The benchmark's events are defined by it.
class JavaRandom {
 public:
  explicit constexpr JavaRandom(std::int64_t seed)
      : state_((static_cast<std::uint64_t>(seed) ^ multiplier) & mask) {}

  /// Any of the 2^32 integers.
  constexpr std::int32_t next_int() { return static_cast<std::int32_t>(next(32)); }

  /// In [0, bound); `bound` is positive.
  constexpr std::int32_t next_int(std::int32_t bound) {
    const auto limit = static_cast<std::uint32_t>(bound);
    if (std::has_single_bit(limit)) {
      return static_cast<std::int32_t>((std::uint64_t{limit} * next(31)) >> 31);
    }
    for (;;) {
      const std::uint32_t drawn = next(31);
      const std::uint32_t below = drawn % limit;
      // The last, incomplete run of `bound` numbers under 2^31 would favour the small ones.
      if (drawn - below + (limit - 1) <= 0x7FFF'FFFFU) return static_cast<std::int32_t>(below);
    }
  }

  constexpr std::int64_t next_long() {
    const auto high = static_cast<std::uint64_t>(next_int());
    return static_cast<std::int64_t>((high << 32) + static_cast<std::uint64_t>(next_int()));
  }

  /// Java's nextDouble, as the whole number that it is when counted in steps of 2^-53.
  constexpr std::uint64_t next_fraction() {
    const std::uint64_t high = next(26);
    return (high << 27) + next(27);
  }

 private:
  static constexpr std::uint64_t multiplier = 0x5DEECE66D;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;

  constexpr std::uint32_t next(int bits) {
    state_ = (state_ * multiplier + 11) & mask;
    return static_cast<std::uint32_t>(state_ >> (48 - bits));
  }

  std::uint64_t state_;
};

}  // namespace millrace::nexmark
