#include "millrace/nexmark/price.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "millrace/nexmark/java_random.hpp"

using namespace millrace::nexmark;

TEST_CASE("prices go from a dollar to a million", "[nexmark][price]") {
  constexpr std::uint64_t whole = std::uint64_t{1} << 53;
  CHECK(price_of(0) == 100);
  CHECK(price_of(whole / 6) == 1'000);
  CHECK(price_of(whole / 2) == 100'000);
  CHECK(price_of(whole - 1) == 100'000'000);
}

TEST_CASE("a price is what floating point makes of the draw", "[nexmark][price]") {
  // Rounded alike in all of these; elsewhere a cent would be allowed.
  for (std::int64_t seed = 0; seed < 100'000; ++seed) {
    const std::uint64_t fraction = JavaRandom(seed).next_fraction();
    const double dollars = std::pow(10.0, std::ldexp(static_cast<double>(fraction), -53) * 6.0);
    REQUIRE(price_of(fraction) == std::llround(dollars * 100.0));
  }
}
