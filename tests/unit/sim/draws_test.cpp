#include "millrace/sim/draws.hpp"

#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace;
using namespace millrace::sim;

namespace {

constexpr Site latency{"network.latency"};
constexpr Site fate{"disk.fate"};
constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> drawn(Draws& draws, Site site, std::uint64_t bound, std::size_t count,
                                 std::uint32_t part = 0) {
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(draws.below(site, bound, part));
  return values;
}

/// How far counts are from being equal: chi-square, times the count that each should have. Whole
/// numbers only, so that it is the same everywhere.
std::uint64_t unevenness(const std::vector<std::uint64_t>& counts, std::uint64_t each) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    const std::uint64_t off = count > each ? count - each : each - count;
    sum += off * off;
  }
  return sum;
}

}  // namespace

// These values give every seed and every case its meaning. They may never change.
TEST_CASE("draws are what they have always been", "[sim][draws]") {
  const std::uint64_t site = hash_name("network.latency");
  const std::uint64_t entity = hash_name("worker1/worker1/life1");
  CHECK(site == 0x8633EFBADD7AF359U);
  CHECK(entity == 0x032206B46C6A554DU);

  CHECK(draw_key(0, Domain::input, 0, 0) == 0x8D0BDC81E70B5571U);
  CHECK(draw_key(1, Domain::world, site, entity) == 0xAB45CB4E671B2202U);
  CHECK(draw_key(1, Domain::plan, site, entity) == 0x6CC9F63FC7A36D6AU);
  CHECK(draw_key(highest, Domain::product, highest, highest) == 0xF3BC257884082B1FU);

  CHECK(nth_draw(0, 0) == 0x0850F9794D5108B4U);
  CHECK(nth_draw(0, 1) == 0x6CD52173E9A5F547U);
  CHECK(nth_draw(0xAB45CB4E671B2202U, 0) == 0x9C3CF1B54466AE38U);
  CHECK(nth_draw(0xAB45CB4E671B2202U, 1) == 0x4D966AD1517505A8U);
  CHECK(nth_draw(0xAB45CB4E671B2202U, std::uint64_t{1} << 40) == 0xC618A45F61A9A6F4U);

  CHECK(scaled(0x9C3CF1B54466AE38U, 700'001) == 427'214);
  CHECK(scaled(0, 10) == 0);
  CHECK(scaled(std::uint64_t{1} << 63, 10) == 5);
  CHECK(scaled(highest, 10) == 9);
  CHECK(scaled(highest, highest) == highest - 1);
}

TEST_CASE("an entity draws what its key says, in order, and per part", "[sim][draws]") {
  using Values = std::vector<std::uint64_t>;
  Draws draws({1}, Domain::world, "worker1/worker1/life1");

  CHECK(drawn(draws, latency, 1000, 5) == Values{610, 303, 981, 217, 922});
  CHECK(drawn(draws, latency, 1000, 5, 1) == Values{417, 293, 898, 873, 403});
  CHECK(drawn(draws, latency, 1000, 5, 2) == Values{280, 964, 52, 40, 393});
}

TEST_CASE("a draw at one site moves no other", "[sim][draws]") {
  Draws alone({7}, Domain::world, "worker1");
  const auto expected = drawn(alone, latency, 1'000'000, 100);

  Draws busy({7}, Domain::world, "worker1");
  std::vector<std::uint64_t> seen;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    drawn(busy, fate, 4, i % 3);
    drawn(busy, latency, 10, i % 2, 1);  // Another part of the same site is another site.
    seen.push_back(busy.below(latency, 1'000'000));
  }

  CHECK(seen == expected);
}

TEST_CASE("the bound of a draw moves none of the later ones", "[sim][draws]") {
  Draws wide({7}, Domain::world, "worker1");
  Draws narrow({7}, Domain::world, "worker1");
  wide.below(latency, highest);
  narrow.below(latency, 1);

  CHECK(drawn(wide, latency, 1'000'000, 20) == drawn(narrow, latency, 1'000'000, 20));
}

TEST_CASE("seeds, domains, entities, sites and parts draw differently", "[sim][draws]") {
  const auto of = [](std::uint64_t seed, Domain domain, std::string_view entity, Site site,
                     std::uint32_t part = 0) {
    Draws draws({seed}, domain, entity);
    return drawn(draws, site, 1'000'000, 20, part);
  };
  const std::vector<std::vector<std::uint64_t>> all = {
      of(7, Domain::world, "worker1", latency),   of(70, Domain::world, "worker1", latency),
      of(7, Domain::input, "worker1", latency),   of(7, Domain::plan, "worker1", latency),
      of(7, Domain::product, "worker1", latency), of(7, Domain::world, "worker2", latency),
      of(7, Domain::world, "worker1", fate),      of(7, Domain::world, "worker1", latency, 1),
      of(7, Domain::world, "worker1", latency, 2)};

  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(i, j);
      CHECK(all[i] != all[j]);
    }
  }
}

TEST_CASE("a quiet draw takes the harmless value", "[sim][draws]") {
  Draws draws({7, true}, Domain::world, "worker1");

  CHECK(drawn(draws, latency, 1'000'000, 50) == std::vector<std::uint64_t>(50, 0));
  CHECK(drawn(draws, latency, 1'000'000, 50, 3) == std::vector<std::uint64_t>(50, 0));
  CHECK(draws.between(fate, 3, 9) == 3);
  CHECK_FALSE(draws.hits(fate, {999, 1000}));
}

TEST_CASE("what makes a name unique is never the same twice, and quiet only without a seed",
          "[sim][draws]") {
  std::set<std::uint64_t> numbers;
  for (const std::string entity : {"coordinator1/life1", "coordinator2/life1"}) {
    for (const bool is_quiet : {false, true}) {
      Draws draws({7, is_quiet}, Domain::product, entity);
      for (int i = 0; i < 10; ++i) numbers.insert(draws.unique(fate));
    }
  }
  CHECK(numbers.size() == 40);
  Draws one({7, true}, Domain::product, "coordinator1/life1");
  Draws other({8, true}, Domain::product, "coordinator1/life1");
  CHECK(one.unique(fate) == other.unique(fate));
}

TEST_CASE("a draw between two numbers reaches both and nothing beyond", "[sim][draws]") {
  Draws draws({7}, Domain::world, "worker1");
  std::array<int, 12> counts{};
  for (int i = 0; i < 1'000; ++i) ++counts.at(draws.between(fate, 3, 9));

  for (std::size_t value = 0; value < counts.size(); ++value) {
    CAPTURE(value);
    CHECK((counts[value] > 0) == (value >= 3 && value <= 9));
  }
  CHECK(draws.between(fate, 5, 5) == 5);
}

TEST_CASE("what is drawn one after the other is evenly spread", "[sim][draws]") {
  constexpr std::uint64_t each = 10'000;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Draws draws({seed}, Domain::world, "worker1");
    std::vector<std::uint64_t> counts(6, 0);
    for (std::uint64_t i = 0; i < counts.size() * each; ++i) ++counts.at(draws.below(latency, 6));

    CAPTURE(seed, counts);
    CHECK(unevenness(counts, each) < 21 * each);  // Chi-square, 5 degrees: one in 1,200 exceeds it.
    CHECK(unevenness(counts, each) > 0);          // And it is not evenness itself.
  }
}

TEST_CASE("pairs of draws one after the other are evenly spread", "[sim][draws]") {
  constexpr std::uint64_t each = 400;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Draws draws({seed}, Domain::world, "worker1");
    std::vector<std::uint64_t> counts(256, 0);
    for (std::uint64_t i = 0; i < counts.size() * each; ++i) {
      const std::uint64_t first = draws.below(latency, 16);
      ++counts.at(first * 16 + draws.below(latency, 16));
    }

    CAPTURE(seed);
    CHECK(unevenness(counts, each) < 330 * each);  // Chi-square, 255 degrees: one in 1,000.
    CHECK(unevenness(counts, each) > 190 * each);
  }
}

TEST_CASE("the first draws of many entities and of many seeds are evenly spread", "[sim][draws]") {
  constexpr std::uint64_t each = 1'000;
  std::vector<std::uint64_t> of_entities(16, 0);
  std::vector<std::uint64_t> of_seeds(16, 0);
  for (std::uint64_t i = 0; i < of_entities.size() * each; ++i) {
    Draws entity({1}, Domain::world, "worker" + std::to_string(i));
    ++of_entities.at(entity.below(latency, 16));
    Draws seed({i}, Domain::world, "worker1");
    ++of_seeds.at(seed.below(latency, 16));
  }

  CHECK(unevenness(of_entities, each) < 38 * each);  // Chi-square, 15 degrees: one in 1,000.
  CHECK(unevenness(of_seeds, each) < 38 * each);
}

TEST_CASE("a chance hits as often as its ratio says", "[sim][draws]") {
  Draws draws({7}, Domain::plan, "worker1");
  const auto hits = [&](Ratio ratio) {
    int count = 0;
    for (int i = 0; i < 100'000; ++i) count += draws.hits(fate, ratio) ? 1 : 0;
    return count;
  };

  CHECK(hits({0, 1}) == 0);
  CHECK(hits({1, 1}) == 100'000);
  const int rare = hits({1, 1000});
  CHECK(rare > 65);  // 100, and three and a half times its spread of 10.
  CHECK(rare < 135);
  const int common = hits({1, 4});
  CHECK(common > 24'500);
  CHECK(common < 25'500);
}
