#include "millrace/runtime/operators/exact_sum.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "draws.hpp"
#include "violations.hpp"

using namespace millrace;

namespace {

using Sum = std::array<std::uint64_t, exact_sum::words>;

Sum sum_of(const std::vector<double>& values) {
  Sum sum{};
  for (const double value : values) exact_sum::add(sum, value);
  return sum;
}

constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double smallest_normal = std::numeric_limits<double>::min();
constexpr std::optional<double> nothing = std::nullopt;

/// Sums whose results were worked out with fractions of any length.
struct Known {
  std::vector<double> values;
  std::optional<double> sum;
  double mean;
};

const std::vector<Known>& known_sums() {
  static const std::vector<Known> known{
      {{}, 0.0, 0.0},
      {{1e308, -1e308, 1.0}, 1.0, 0x1.5555555555555p-2},
      {{1e16, 1.0, -1e16}, 1.0, 0x1.5555555555555p-2},
      {{1e308, 1e308, -1e308, -1e308, 3.5}, 3.5, 0x1.6666666666666p-1},
      {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 1.0, 0.1},
      {{0.1, 0.2, 0.3, -0.6}, 0x1p-55, 0x1p-57},
      {{1e-300, 1e300, -1e300, 2e-300}, 0x1.01297d23ab683p-995, 0x1.01297d23ab683p-997},
      // Half of the last bit: to even, unless there is more, however little.
      {{1.0, 0x1p-53}, 1.0, 0.5},
      {{1.0, 0x1p-53, smallest}, 0x1.0000000000001p+0, 0x1.5555555555556p-2},
      {{0x1.0000000000001p+0, 0x1p-53}, 0x1.0000000000002p+0, 0x1.0000000000002p-1},
      {{-0x1.0000000000001p+0, -0x1p-53}, -0x1.0000000000002p+0, -0x1.0000000000002p-1},
      // Around the largest double: up to half of its last bit rounds down to it.
      {{largest, largest}, nothing, largest},
      {{-largest, -largest, largest}, -largest, -0x1.5555555555555p+1022},
      {{largest, 0x1p+969}, largest, 0x1.fffffffffffffp+1022},
      {{largest, 0x1p+970}, nothing, 0x1p+1023},
      {{largest, 0x1p+970, -smallest}, largest, 0x1.5555555555555p+1022},
      // Below the smallest normal double, where halves are to even as well.
      {{smallest, smallest}, 2 * smallest, smallest},
      {{smallest, smallest, smallest, -smallest}, 2 * smallest, 0.0},
      {{smallest_normal, -smallest}, 0x0.fffffffffffffp-1022, 0x0.8p-1022},
      {{smallest, 0.0}, smallest, 0.0},
      {{smallest, 0.0, 0.0}, smallest, 0.0},
      {{3 * smallest, 0.0}, 3 * smallest, 2 * smallest},
      {{smallest, smallest, 0.0}, 2 * smallest, smallest},
      {{smallest, smallest, smallest, 0.0}, 3 * smallest, smallest},
      {{-smallest, 0.0, 0.0}, -smallest, 0.0},
  };
  return known;
}

/// Shewchuk's way of summing: a list of doubles that do not overlap and add up to the sum exactly.
double sum_by_partials(const std::vector<double>& values) {
  std::vector<double> partials;
  for (double x : values) {
    std::size_t kept = 0;
    for (double y : partials) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  double high = 0;
  double low = 0;
  while (!partials.empty() && low == 0) {
    const double x = high;
    const double y = partials.back();
    partials.pop_back();
    high = x + y;
    low = y - (high - x);
  }
  // What is left may turn a half into more than a half.
  if (!partials.empty() && (low < 0) == (partials.back() < 0)) {
    const double twice = low * 2;
    const double x = high + twice;
    if (x - high == twice) high = x;
  }
  return high;
}

double any_double(Draws& draws, int smallest_exponent, int exponents) {
  const auto mantissa = static_cast<double>(draws.next() >> 11);
  const int exponent =
      smallest_exponent + static_cast<int>(draws.below(static_cast<std::uint64_t>(exponents)));
  return std::ldexp(draws.one_in(2) ? mantissa : -mantissa, exponent - 52);
}

std::vector<double> any_doubles(Draws& draws, int smallest_exponent, int exponents) {
  std::vector<double> values(1 + draws.below(40));
  for (double& value : values) value = any_double(draws, smallest_exponent, exponents);
  // Some that cancel, so that small ones come to the fore.
  for (std::size_t i = 0; i + 1 < values.size(); i += 3) values[i + 1] = -values[i];
  draws.shuffle(values);
  return values;
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

}  // namespace

TEST_CASE("sums and means that are hard are right to the last bit", "[runtime][exact_sum]") {
  for (const Known& known : known_sums()) {
    CAPTURE(known.values);
    const Sum sum = sum_of(known.values);
    CHECK(exact_sum::rounded(sum) == known.sum);
    const std::uint64_t count = std::max<std::size_t>(known.values.size(), 1);
    CHECK(exact_sum::rounded_mean(sum, count) == known.mean);
  }
}

TEST_CASE("the sum of one double is that double", "[runtime][exact_sum]") {
  for (const double value : {1.0, -1.0, 0.1, largest, -largest, smallest, -smallest,
                             smallest_normal, -smallest_normal, 0x1.fffffffffffffp-1022}) {
    CHECK(exact_sum::rounded(sum_of({value})) == value);
  }
  Draws draws(31);
  for (int i = 0; i < 10'000; ++i) {
    const double value = any_double(draws, -1070, 2090);
    if (!std::isfinite(value)) continue;
    REQUIRE(exact_sum::rounded(sum_of({value})) == value);
  }
}

TEST_CASE("a sum of nothing, and one that cancels, is a zero without a sign",
          "[runtime][exact_sum]") {
  for (const auto& values :
       {std::vector<double>{}, {-0.0}, {-1.0, 1.0}, {smallest, -smallest}, {-largest, largest}}) {
    const auto sum = exact_sum::rounded(sum_of(values));
    REQUIRE(sum.has_value());
    CHECK(bits_of(*sum) == 0);
    CHECK(sum_of(values) == Sum{});
  }
}

TEST_CASE("sums are those of another exact way of summing", "[runtime][exact_sum]") {
  Draws draws(32);
  for (int run = 0; run < 3'000; ++run) {
    const bool is_narrow = draws.one_in(2);  // Of like sizes, so that halves come about.
    const auto values = is_narrow ? any_doubles(draws, -4, 60) : any_doubles(draws, -1020, 2020);
    const auto sum = exact_sum::rounded(sum_of(values));
    REQUIRE(sum.has_value());
    REQUIRE(*sum == sum_by_partials(values));
  }
}

TEST_CASE("a sum is the same whatever the order, and however it was put together",
          "[runtime][exact_sum]") {
  Draws draws(33);
  for (int run = 0; run < 300; ++run) {
    auto values = any_doubles(draws, -1070, 2080);
    const Sum once = sum_of(values);

    draws.shuffle(values);
    REQUIRE(sum_of(values) == once);

    std::vector<Sum> parts(1 + draws.below(6));
    for (const double value : values) exact_sum::add(parts[draws.below(parts.size())], value);
    while (parts.size() > 1) {
      const std::size_t into = draws.below(parts.size() - 1);
      exact_sum::merge(parts[into], parts.back());
      parts.pop_back();
    }
    REQUIRE(parts[0] == once);
  }
}

TEST_CASE("many of the largest are summed without loss", "[runtime][exact_sum]") {
  Sum sum{};
  for (int i = 0; i < 1'000; ++i) exact_sum::add(sum, largest);
  CHECK(exact_sum::rounded(sum) == std::nullopt);
  CHECK(exact_sum::rounded_mean(sum, 1'000) == largest);
  // Doubled sixty times: 2^70 of them.
  Sum doubled = sum;
  for (int i = 0; i < 60; ++i) exact_sum::merge(doubled, Sum(doubled));
  CHECK(exact_sum::rounded(doubled) == std::nullopt);
  for (int i = 0; i < 999; ++i) exact_sum::add(sum, -largest);
  CHECK(exact_sum::rounded(sum) == largest);
}

TEST_CASE("a mean is what the processor gets when it divides", "[runtime][exact_sum]") {
  // It rounds a quotient of two doubles as it should, also below the smallest normal double.
  Draws draws(34);
  for (int run = 0; run < 10'000; ++run) {
    const double value =
        draws.one_in(3) ? any_double(draws, -1074, 60) : any_double(draws, -1000, 1900);
    const std::uint64_t count = 1 + draws.below(draws.one_in(2) ? 100 : std::uint64_t{1} << 53);
    const double expected = value / static_cast<double>(count) + 0.0;  // And never -0.
    const auto mean = exact_sum::rounded_mean(sum_of({value}), count);
    REQUIRE(mean.has_value());
    REQUIRE(bits_of(*mean) == bits_of(expected));
  }
}

TEST_CASE("a number that is not finite is never added", "[runtime][exact_sum]") {
  Sum sum{};
  for (const double value :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(broken_invariant([&] { exact_sum::add(sum, value); }) == "only finite numbers are added");
  }
}

TEST_CASE("means of integers are right to the last bit", "[runtime][exact_sum]") {
  constexpr auto power = [](int exponent) { return static_cast<Int128>(1) << exponent; };
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

  CHECK(rounded_mean(Int128{0}, 5) == 0.0);
  CHECK(bits_of(rounded_mean(Int128{0}, 5)) == 0);
  CHECK(rounded_mean(Int128{1}, 3) == 0x1.5555555555555p-2);
  CHECK(rounded_mean(Int128{2}, 3) == 0x1.5555555555555p-1);
  CHECK(rounded_mean(Int128{-1}, 3) == -0x1.5555555555555p-2);
  CHECK(rounded_mean(power(53) + 1, 1) == 0x1p+53);  // Halves to even.
  CHECK(rounded_mean(power(53) + 3, 1) == 0x1.0000000000002p+53);
  CHECK(rounded_mean(power(54) + 2, 4) == 0x1p+52);
  CHECK(rounded_mean(power(54) + 6, 4) == 0x1.0000000000002p+52);
  CHECK(rounded_mean(power(53) + 1, 3) == 0x1.5555555555556p+51);
  CHECK(rounded_mean(power(63) - 1, 2) == 0x1p+62);
  CHECK(rounded_mean(-power(63), 3) == -0x1.5555555555555p+61);
  CHECK(rounded_mean(power(126), most) == 0x1p+62);
  CHECK(rounded_mean(Int128{1}, most) == 0x1p-64);
  CHECK(rounded_mean(power(126) - 1 + power(126), 1) == 0x1p+127);  // The largest there is,
  CHECK(rounded_mean(-power(126) - power(126), 1) == -0x1p+127);    // and the smallest.
}

TEST_CASE("a mean of integers is what the processor gets while both are exact doubles",
          "[runtime][exact_sum]") {
  Draws draws(35);
  for (int run = 0; run < 10'000; ++run) {
    const auto sum = static_cast<std::int64_t>(draws.next() >> 11) - (std::int64_t{1} << 52);
    const std::uint64_t count = 1 + draws.below(draws.one_in(2) ? 100 : std::uint64_t{1} << 53);
    REQUIRE(rounded_mean(Int128{sum}, count) ==
            static_cast<double>(sum) / static_cast<double>(count));
  }
}
