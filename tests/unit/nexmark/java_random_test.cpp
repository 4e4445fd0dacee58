#include "millrace/nexmark/java_random.hpp"

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace millrace::nexmark;

namespace {

template <class Draw>
auto draws_of(std::int64_t seed, int count, Draw draw) {
  JavaRandom random(seed);
  std::vector<decltype(draw(random))> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(draw(random));
  return drawn;
}

std::vector<std::int32_t> integers(std::int64_t seed, int count) {
  return draws_of(seed, count, [](JavaRandom& random) { return random.next_int(); });
}

std::vector<std::int32_t> integers_below(std::int32_t bound, int count) {
  return draws_of(42, count, [bound](JavaRandom& random) { return random.next_int(bound); });
}

}  // namespace

// What java.util.Random gives, printed by a Java program.

TEST_CASE("integers are drawn as Java draws them", "[nexmark][random]") {
  CHECK(integers(42, 4) ==
        std::vector<std::int32_t>{-1170105035, 234785527, -1360544799, 205897768});
  CHECK(integers(0, 3) == std::vector<std::int32_t>{-1155484576, -723955400, 1033096058});
  CHECK(integers(-1, 3) == std::vector<std::int32_t>{1155099827, 1887904451, 52699159});
}

TEST_CASE("only 48 bits of a seed count", "[nexmark][random]") {
  CHECK(integers(std::numeric_limits<std::int64_t>::min(), 3) == integers(0, 3));
}

TEST_CASE("bounded integers are drawn as Java draws them", "[nexmark][random]") {
  CHECK(integers_below(10, 10) == std::vector<std::int32_t>{0, 3, 8, 4, 0, 5, 5, 8, 9, 3});
}

TEST_CASE("below a power of two the high bits count", "[nexmark][random]") {
  CHECK(integers_below(16, 10) == std::vector<std::int32_t>{11, 0, 10, 0, 4, 15, 4, 11, 10, 1});
  CHECK(integers_below(1, 3) == std::vector<std::int32_t>{0, 0, 0});
}

TEST_CASE("draws that would favour small numbers are drawn again", "[nexmark][random]") {
  // Of 2^31 numbers almost half lie above the last whole run of this bound: the first, third, fifth
  // draw of seed 42 is one of them.
  CHECK(integers_below((1 << 30) + 1, 6) == std::vector<std::int32_t>{117392763, 102948884,
                                                                      662969970, 595021505,
                                                                      196118093, 969067502});
}

TEST_CASE("long integers are drawn as Java draws them", "[nexmark][random]") {
  CHECK(draws_of(42, 3, [](JavaRandom& random) { return random.next_long(); }) ==
        std::vector<std::int64_t>{-5025562857975149833, -5843495416241995736, 5694868678511409995});
}

TEST_CASE("fractions are drawn as Java draws them", "[nexmark][random]") {
  // 0.7275636800328681, 0.6832234717598454, 0.30871945533265976
  CHECK(draws_of(42, 3, [](JavaRandom& random) { return random.next_fraction(); }) ==
        std::vector<std::uint64_t>{6553311036568663, 6153929945656833, 2780697647996378});
}
