#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "millrace/env/int128.hpp"

namespace millrace {

/// The exact sum of any number of doubles: a fixed-point number wide enough for all of them.
///
/// Adding is exact, so the sum depends on what was added and not on the order; it is rounded once,
/// when it is asked for. (The idea of Kulisch's long accumulator.)
///
/// Works on words that belong to the caller, because they are part of a key's state: two's
/// complement, least significant word first, in units of 2^-1074. All words zero is the sum of
/// nothing.
namespace exact_sum {

/// 2,098 bits reach from the smallest double to the largest; the rest is room for 2^77 of them.
inline constexpr std::size_t words = 34;
using Words = std::span<std::uint64_t, words>;
using ConstWords = std::span<const std::uint64_t, words>;

/// Adds a finite double.
void add(Words sum, double value);
void merge(Words sum, ConstWords other);

/// The sum, to the nearest double, ties to even; nothing if it is beyond the largest.
std::optional<double> rounded(ConstWords sum);
/// The sum divided by `count`, which is at least 1; rounded once.
std::optional<double> rounded_mean(ConstWords sum, std::uint64_t count);

}  // namespace exact_sum

/// An integer divided by `count`, which is at least 1, to the nearest double, ties to even.
double rounded_mean(Int128 sum, std::uint64_t count);

}  // namespace millrace
