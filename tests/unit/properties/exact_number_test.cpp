#include "exact_number.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/int128.hpp"
#include "millrace/sim/draws.hpp"

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

using Integer = boost::multiprecision::cpp_int;
using Limits = std::numeric_limits<double>;

constexpr Site number_site{"test.number"};
constexpr std::uint64_t all_bits = std::numeric_limits<std::uint64_t>::max();

Fraction power_of_two(int exponent) {
  const Fraction power(Integer(1) << std::abs(exponent));
  return exponent >= 0 ? power : Fraction(1 / power);
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Numbers that look random, the same in every run.
class Numbers {
 public:
  std::uint64_t next() { return draws_.below(number_site, all_bits); }
  std::uint64_t below(std::uint64_t bound) { return draws_.below(number_site, bound); }
  /// Any double that is a number, most of them far from 1.
  double finite() {
    while (true) {
      const double value = std::bit_cast<double>(next());
      if (std::isfinite(value)) return value;
    }
  }

 private:
  sim::Draws draws_{sim::Seed{1}, sim::Domain::input, "exact numbers"};
};

/// The double nearest to `numerator` / `denominator`, by whole numbers of 128 bits. `numerator` has
/// its highest bit set, and `denominator` does not.
double divide(std::uint64_t numerator, std::uint64_t denominator) {
  const Uint128 wide = static_cast<Uint128>(numerator) << 63;
  Uint128 quotient = wide / denominator;
  bool more = wide % denominator != 0;
  int exponent = -63;
  while (quotient >> 55 != 0) {  // Down to 53 bits, the one below them, and one for the rest.
    more = more || (quotient & 1) != 0;
    quotient >>= 1;
    ++exponent;
  }
  auto mantissa = static_cast<std::uint64_t>(quotient >> 2);
  const bool half = (quotient & 2) != 0;
  const bool beyond_half = more || (quotient & 1) != 0;
  if (half && (beyond_half || (mantissa & 1) != 0)) ++mantissa;
  return std::ldexp(static_cast<double>(mantissa), exponent + 2);
}

}  // namespace

TEST_CASE("a double is the fraction that it is", "[properties][exact]") {
  CHECK(exact(0.0) == 0);
  CHECK(exact(-0.0) == 0);
  CHECK(exact(1.0) == 1);
  CHECK(exact(-0.75) == Fraction(-3, 4));
  CHECK(exact(0.1) == Fraction(Integer(3602879701896397), Integer(36028797018963968)));
  CHECK(exact(9007199254740993.0) == Integer(9007199254740992));
  CHECK(exact(1e22) == Fraction(pow(Integer(10), 22)));
  CHECK(exact(Limits::max()) == (power_of_two(53) - 1) * power_of_two(971));
  CHECK(exact(Limits::min()) == power_of_two(-1022));
  CHECK(exact(Limits::denorm_min()) == power_of_two(-1074));
  CHECK(exact(-Limits::denorm_min()) == -power_of_two(-1074));
}

TEST_CASE("what lies between two doubles goes to the nearer, ties to even", "[properties][exact]") {
  const Fraction big = power_of_two(53);

  CHECK(nearest_double(big + 1) == 9007199254740992.0);
  CHECK(nearest_double(big + 3) == 9007199254740996.0);
  CHECK(nearest_double(big + 1 + power_of_two(-900)) == 9007199254740994.0);
  CHECK(nearest_double(big + 3 - power_of_two(-900)) == 9007199254740994.0);
  CHECK(nearest_double(-(big + 1)) == -9007199254740992.0);
  CHECK(nearest_double(-(big + 3)) == -9007199254740996.0);
  // Beyond what decimal places can tell, but for the digit that says that there is more.
  CHECK(nearest_double(big + 1 + power_of_two(-5000)) == 9007199254740994.0);
  CHECK(nearest_double(Fraction(1, 3)) == 1.0 / 3.0);
  CHECK(nearest_double(Fraction(1, 10)) == 0.1);
  CHECK(nearest_double(Fraction(-2, 3)) == -2.0 / 3.0);
}

TEST_CASE("the smallest doubles are rounded like all others", "[properties][exact]") {
  const Fraction smallest = power_of_two(-1074);
  const Fraction a_little = power_of_two(-3000);

  CHECK(bits_of(nearest_double(smallest)) == 1);
  CHECK(bits_of(nearest_double(smallest / 2)) == 0);  // A tie, to even.
  CHECK(bits_of(nearest_double(smallest / 2 + a_little)) == 1);
  CHECK(bits_of(nearest_double(smallest * 3 / 2)) == 2);
  CHECK(bits_of(nearest_double(smallest * 3 / 2 - a_little)) == 1);
  CHECK(bits_of(nearest_double(a_little)) == 0);
  CHECK(bits_of(nearest_double(-a_little)) == 0);  // And not -0.
  CHECK(bits_of(nearest_double(-smallest / 2)) == 0);
  CHECK(nearest_double(-smallest) == -Limits::denorm_min());
  // Just below the smallest normal number.
  CHECK(nearest_double(power_of_two(-1022) - smallest / 4) == Limits::min());
  CHECK(nearest_double(Fraction(0)) == 0);
}

TEST_CASE("what is beyond the largest double does not fit", "[properties][exact]") {
  const Fraction largest = exact(Limits::max());
  const Fraction half_a_step = power_of_two(970);
  const std::string complaint = "a sum of this input does not fit into float64";

  CHECK(nearest_double(largest) == Limits::max());
  CHECK(nearest_double(-largest) == -Limits::max());
  CHECK(nearest_double(largest + half_a_step - 1) == Limits::max());
  CHECK(complaint_of([&] { nearest_double(largest + half_a_step); }) == complaint);
  CHECK(complaint_of([&] { nearest_double(-largest - half_a_step); }) == complaint);
  CHECK(complaint_of([&] { nearest_double(largest * largest); }) == complaint);
}

TEST_CASE("every double comes back from being a fraction", "[properties][exact]") {
  Numbers numbers;
  for (int i = 0; i < 1000; ++i) {
    const double value = numbers.finite();
    CAPTURE(bits_of(value));
    CHECK(bits_of(nearest_double(exact(value))) == bits_of(value));
  }
}

TEST_CASE("the middle of two neighbours goes to the even one", "[properties][exact]") {
  Numbers numbers;
  for (int i = 0; i < 500; ++i) {
    const double value = std::abs(numbers.finite());
    const double next = std::nextafter(value, Limits::infinity());
    if (std::isinf(next)) continue;
    const Fraction middle = (exact(value) + exact(next)) / 2;
    const Fraction a_little = (exact(next) - exact(value)) / 1'000'000;
    CAPTURE(bits_of(value));
    CHECK(bits_of(nearest_double(middle)) == bits_of(value) + (bits_of(value) & 1));
    CHECK(nearest_double(middle - a_little) == value);
    CHECK(nearest_double(middle + a_little) == next);
    CHECK(nearest_double(-middle - a_little) == -next);
  }
}

TEST_CASE("quotients are rounded as whole numbers of 128 bits say", "[properties][exact]") {
  CHECK(divide(std::uint64_t{3} << 62, 3) == std::ldexp(1.0, 62));
  CHECK(divide(std::uint64_t{1} << 63, 10) == std::ldexp(1.0, 63) / 10);
  Numbers numbers;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t numerator = numbers.next() | std::uint64_t{1} << 63;
    // Of every size, and now and then a power of two, for ties.
    const std::uint64_t shift = 1 + numbers.below(62);
    const std::uint64_t denominator =
        i % 4 == 0 ? std::uint64_t{1} << shift : (numbers.next() >> 1 >> (shift - 1)) + 1;
    CAPTURE(numerator, denominator);
    const double expected = divide(numerator, denominator);
    CHECK(nearest_double(Fraction(Integer(numerator), Integer(denominator))) == expected);
    CHECK(nearest_double(Fraction(-Integer(numerator), Integer(denominator))) == -expected);
  }
}

TEST_CASE("sums of doubles are those of whole numbers of 128 bits", "[properties][exact]") {
  Numbers numbers;
  for (int i = 0; i < 200; ++i) {
    // Multiples of 2^-20 up to 2^33, of both signs: exact as doubles and as whole numbers.
    Fraction sum = 0;
    Int128 units = 0;
    for (std::uint64_t left = 1 + numbers.below(40); left > 0; --left) {
      const auto unit = static_cast<std::int64_t>(numbers.next() >> 11) - (std::int64_t{1} << 52);
      units += unit;
      sum += exact(std::ldexp(static_cast<double>(unit), -20));
    }
    CHECK(nearest_double(sum) == std::ldexp(static_cast<double>(units), -20));
  }
}
