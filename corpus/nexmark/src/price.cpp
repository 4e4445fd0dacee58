#include "millrace/nexmark/price.hpp"

#include <array>

#include "millrace/env/int128.hpp"

namespace millrace::nexmark {
namespace {

// Numbers with 62 binary places.
constexpr int places = 62;
constexpr std::uint64_t one = std::uint64_t{1} << places;

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((Uint128{a} * b) >> places);
}

constexpr std::uint64_t log2_of_10 = 0x3526'9E12'F346'E2C0U;  // With 60 places.
constexpr std::uint64_t ln_of_2 = 0x2C5C'85FD'F473'DE6BU;

/// e^x for x < ln 2, summed up of x^n/n! until nothing is left to add.
constexpr std::uint64_t exponential(std::uint64_t x) {
  std::uint64_t sum = one;
  std::uint64_t term = one;
  for (std::uint64_t n = 1; term > 0; ++n) {
    term = product(term, x) / n;
    sum += term;
  }
  return sum;
}

// The sum is short for small x. So an exponent is taken apart: the first bits of its fraction look
// up their power of two, only the rest is summed up, and of that ten terms are all there is.
constexpr int table_bits = 4;
constexpr auto powers_of_2 = [] {
  std::array<std::uint64_t, 1 << table_bits> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = exponential(product(i << (places - table_bits), ln_of_2));
  }
  return table;
}();
constexpr auto inverse_factorials = [] {
  std::array<std::uint64_t, 10> list{one};
  for (std::size_t n = 1; n < list.size(); ++n) list[n] = list[n - 1] / n;
  return list;
}();

}  // namespace

std::int64_t price_of(std::uint64_t fraction) {
  // 10^(6u) = 2^(6u log2 10) = 2^whole * 2^(place in the table) * e^x.
  const Uint128 exponent = (Uint128{fraction} * 6 * log2_of_10) >> (53 + 60 - places);
  const auto whole = static_cast<int>(exponent >> places);
  const std::uint64_t rest = static_cast<std::uint64_t>(exponent) & (one - 1);
  constexpr int rest_bits = places - table_bits;
  const std::uint64_t x = product(rest & ((std::uint64_t{1} << rest_bits) - 1), ln_of_2);
  std::uint64_t power = 0;
  for (std::size_t n = inverse_factorials.size(); n-- > 0;) {
    power = inverse_factorials[n] + product(x, power);
  }
  power = product(power, powers_of_2[rest >> rest_bits]);
  const Uint128 cents = (Uint128{power} * 100) << whole;
  return static_cast<std::int64_t>((cents + one / 2) >> places);
}

}  // namespace millrace::nexmark
