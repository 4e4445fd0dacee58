#include "millrace/runtime/operators/exact_sum.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "millrace/env/invariant.hpp"

namespace millrace {
namespace {

constexpr int mantissa_bits = 53;
constexpr int lowest_exponent = -1074;  // Of the last bit of the smallest double.
constexpr int word_bits = 64;
/// Words below the fixed point's last bit that a quotient may use: more than a double can show of
/// any mean, so that what is left is only "there is more".
constexpr std::size_t quotient_words = 2;

/// Adds `value` shifted left by `shift` bits, with the carry to the top.
void add_shifted(std::span<std::uint64_t> sum, std::uint64_t value, unsigned shift) {
  std::size_t word = shift / word_bits;
  const unsigned bits = shift % word_bits;
  const Uint128 wide = static_cast<Uint128>(value) << bits;
  Uint128 carry = 0;
  const std::uint64_t parts[2] = {static_cast<std::uint64_t>(wide),
                                  static_cast<std::uint64_t>(wide >> word_bits)};
  for (std::size_t i = 0; word < sum.size() && (i < 2 || carry != 0); ++i, ++word) {
    carry += sum[word];
    if (i < 2) carry += parts[i];
    sum[word] = static_cast<std::uint64_t>(carry);
    carry >>= word_bits;
  }
}

void subtract_shifted(std::span<std::uint64_t> sum, std::uint64_t value, unsigned shift) {
  std::size_t word = shift / word_bits;
  const unsigned bits = shift % word_bits;
  const Uint128 wide = static_cast<Uint128>(value) << bits;
  const std::uint64_t parts[2] = {static_cast<std::uint64_t>(wide),
                                  static_cast<std::uint64_t>(wide >> word_bits)};
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; word < sum.size() && (i < 2 || borrow != 0); ++i, ++word) {
    const Uint128 taken = static_cast<Uint128>(i < 2 ? parts[i] : 0) + borrow;
    borrow = sum[word] < taken ? 1 : 0;
    sum[word] -= static_cast<std::uint64_t>(taken);
  }
}

bool is_negative(std::span<const std::uint64_t> number) { return number.back() >> 63 != 0; }

void negate(std::span<std::uint64_t> number) {
  std::uint64_t carry = 1;
  for (std::uint64_t& word : number) {
    word = ~word + carry;
    carry = carry != 0 && word == 0 ? 1 : 0;
  }
}

/// Divides in place and returns the remainder.
std::uint64_t divide(std::span<std::uint64_t> number, std::uint64_t by) {
  Uint128 remainder = 0;
  for (std::size_t i = number.size(); i-- > 0;) {
    const Uint128 part = remainder << word_bits | number[i];
    number[i] = static_cast<std::uint64_t>(part / by);
    remainder = part % by;
  }
  return static_cast<std::uint64_t>(remainder);
}

bool bit_at(std::span<const std::uint64_t> number, int bit) {
  return (number[static_cast<std::size_t>(bit / word_bits)] >> (bit % word_bits) & 1) != 0;
}

int highest_bit(std::span<const std::uint64_t> number) {
  for (std::size_t i = number.size(); i-- > 0;) {
    if (number[i] != 0) {
      return static_cast<int>(i) * word_bits + word_bits - 1 - std::countl_zero(number[i]);
    }
  }
  return -1;
}

bool any_bit_below(std::span<const std::uint64_t> number, int bit) {
  for (int word = 0; word < bit / word_bits; ++word) {
    if (number[static_cast<std::size_t>(word)] != 0) return true;
  }
  const int rest = bit % word_bits;
  return rest != 0 && number[static_cast<std::size_t>(bit / word_bits)] << (word_bits - rest) != 0;
}

/// The double nearest to `magnitude` x 2^`exponent`, ties to even; `more` says that the true value
/// is a little larger. Nothing if it is beyond the largest double.
std::optional<double> round(std::span<const std::uint64_t> magnitude, int exponent, bool more,
                            bool negative) {
  const int top = highest_bit(magnitude);
  if (top < 0) return 0.0;  // Also for less than half of the smallest double: `more` alone.
  // The last bit that is kept: 53 bits below the top, but not below what a double can show.
  const int last = std::max(top - (mantissa_bits - 1), lowest_exponent - exponent);
  if (last > top + 1) return 0.0;

  std::uint64_t mantissa = 0;
  for (int bit = top; bit >= std::max(last, 0); --bit) {
    mantissa = mantissa << 1 | (bit_at(magnitude, bit) ? 1 : 0);
  }
  if (last < 0) mantissa <<= -last;
  if (last > 0) {
    const bool half = bit_at(magnitude, last - 1);
    const bool beyond_half = more || any_bit_below(magnitude, last - 1);
    if (half && (beyond_half || (mantissa & 1) != 0)) ++mantissa;
  }
  // Put together from its parts: arithmetic would round again.
  int scale = last + exponent;
  if (mantissa >> mantissa_bits != 0) {  // Rounded up to the next power of two.
    mantissa >>= 1;
    ++scale;
  }
  if (mantissa == 0) return 0.0;
  const bool is_normal = mantissa >> (mantissa_bits - 1) != 0;
  const int biased = is_normal ? scale - lowest_exponent + 1 : 0;
  if (biased > 2046) return std::nullopt;
  constexpr std::uint64_t hidden_bit = std::uint64_t{1} << (mantissa_bits - 1);
  const std::uint64_t bits = (negative ? std::uint64_t{1} << 63 : 0) |
                             static_cast<std::uint64_t>(biased) << (mantissa_bits - 1) |
                             (mantissa & (hidden_bit - 1));
  return std::bit_cast<double>(bits);
}

}  // namespace

namespace exact_sum {

void add(Words sum, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<unsigned>(bits >> (mantissa_bits - 1) & 0x7FF);
  invariant(biased != 0x7FF, "only finite numbers are added");
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << (mantissa_bits - 1)) - 1);
  if (biased != 0) mantissa |= std::uint64_t{1} << (mantissa_bits - 1);
  const unsigned shift = biased == 0 ? 0 : biased - 1;
  if (bits >> 63 == 0) {
    add_shifted(sum, mantissa, shift);
  } else {
    subtract_shifted(sum, mantissa, shift);
  }
}

void merge(Words sum, ConstWords other) {
  Uint128 carry = 0;
  for (std::size_t i = 0; i < words; ++i) {
    carry += static_cast<Uint128>(sum[i]) + other[i];
    sum[i] = static_cast<std::uint64_t>(carry);
    carry >>= word_bits;
  }
}

std::optional<double> rounded(ConstWords sum) { return rounded_mean(sum, 1); }

std::optional<double> rounded_mean(ConstWords sum, std::uint64_t count) {
  std::array<std::uint64_t, quotient_words + words> number{};
  std::copy(sum.begin(), sum.end(), number.begin() + quotient_words);
  const bool negative = is_negative(number);
  if (negative) negate(number);
  const bool more = divide(number, count) != 0;
  return round(number, lowest_exponent - static_cast<int>(quotient_words) * word_bits, more,
               negative);
}

}  // namespace exact_sum

double rounded_mean(Int128 sum, std::uint64_t count) {
  const bool negative = sum < 0;
  const Uint128 magnitude = negative ? -static_cast<Uint128>(sum) : static_cast<Uint128>(sum);
  // Two words of fraction below two of the number.
  std::array<std::uint64_t, quotient_words + 2> number{};
  number[quotient_words] = static_cast<std::uint64_t>(magnitude);
  number[quotient_words + 1] = static_cast<std::uint64_t>(magnitude >> word_bits);
  const bool more = divide(number, count) != 0;
  const auto mean = round(number, -static_cast<int>(quotient_words) * word_bits, more, negative);
  invariant(mean.has_value(), "a mean of integers is a double of moderate size");
  return *mean;
}

}  // namespace millrace
