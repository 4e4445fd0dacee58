#include "millrace/nexmark/generator.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/nexmark/names.hpp"
#include "millrace/nexmark/text.hpp"

using namespace millrace;
using namespace millrace::nexmark;

namespace {

constexpr std::int64_t base = 1'436'918'400'000;

/// 10,000 events a second of one timeline.
GeneratorConfig one_timeline() {
  GeneratorConfig config;
  config.generators = 1;
  return config;
}

std::vector<std::int64_t> times_of(const Generator& generator, std::int64_t count) {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < count; ++i) times.push_back(generator.at(i).at.ms - base);
  return times;
}

/// Of every event of every part, texts and all.
std::uint64_t lines_checksum(const GeneratorConfig& config) {
  std::string lines;
  Texts texts;
  for (const GeneratorConfig& part : split(config)) {
    const Generator generator(part);
    for (std::int64_t i = 0; i < generator.size(); ++i) {
      const Event event = generator.at(i, texts);
      lines += to_text(event, texts) + '\n';
    }
  }
  return checksum(lines);
}

void refuses(const GeneratorConfig& config, const std::string& text) {
  CHECK_THROWS_WITH(Generator(config), Catch::Contains(text));
  CHECK_THROWS_AS(split(config), UsageError);
}

}  // namespace

TEST_CASE("the first events are those of the benchmark", "[nexmark][generator]") {
  const Generator generator(one_timeline());
  Texts texts;

  const Person person = person_of(generator.at(0, texts));
  CHECK(person.id == 1000);
  CHECK(name_text(person.name) == "Peter Jones");
  CHECK(cities[person.city] == "Portland");
  CHECK(states[person.state] == "WY");
  CHECK(texts.email == "nhd@xcat.com");
  CHECK(texts.credit_card == "7241 7320 9143 4888");

  const Auction auction = auction_of(generator.at(1, texts));
  CHECK(auction == Auction{1000, 1000, 13, 28'873, 29'448, {base}, {base + 11}});
  CHECK(texts.item == "wkx mgee");
  CHECK(texts.description == "eszpqxtdxrvwmmywkmogoahf");

  CHECK(bid_of(generator.at(5)) == Bid{1000, 1009, 468'715, {base}});
  CHECK(bid_of(generator.at(49)) == Bid{1000, 1001, 545, {base + 4}});
}

TEST_CASE("events are what a Java program makes of java.util.Random", "[nexmark][generator]") {
  // The same lines, written by such a program, have these checksums, prices
  // included.
  CHECK(lines_checksum({}) == 0x1344246F69C75749U);
  CHECK(lines_checksum({.events = 50'000, .generators = 7, .out_of_order_group = 1000}) ==
        0x15932F9BC2FD19A2U);
}

TEST_CASE("an event without its texts is the same event", "[nexmark][generator]") {
  const Generator generator(one_timeline());
  Texts texts;
  for (std::int64_t i = 0; i < 2'000; ++i) REQUIRE(generator.at(i) == generator.at(i, texts));
}

TEST_CASE("of 50 events one is a person and three are auctions", "[nexmark][generator]") {
  const std::vector<Event> events = all_events({.events = 5'000, .generators = 1});
  CHECK(std::ranges::count_if(events, is_person) == 100);
  CHECK(std::ranges::count_if(events, is_auction) == 300);
  CHECK(std::ranges::count_if(events, is_bid) == 4'600);
}

TEST_CASE("times follow the rate, cut to microseconds and then to milliseconds",
          "[nexmark][generator]") {
  GeneratorConfig config = one_timeline();
  config.events_per_second = 3'000;  // 333 us
  CHECK(times_of(Generator(config), 8) == std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 2});
  config.generators = 10;
  CHECK(times_of(Generator(config), 4) == std::vector<std::int64_t>{0, 3, 6, 9});
}

TEST_CASE("parts share ids and not times", "[nexmark][generator]") {
  GeneratorConfig config;
  config.events = 1'003;
  config.first_event_id = 200;
  config.generators = 4;
  const std::vector<GeneratorConfig> parts = split(config);
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].first_event_id == 200);
  CHECK(parts[0].events == 250);
  CHECK(parts[3].first_event_id == 950);
  CHECK(parts[3].events == 253);
  for (const GeneratorConfig& part : parts) CHECK(Generator(part).at(0).at == config.base_time);
  CHECK(all_events(config).size() == 1'003);
  CHECK(person_of(Generator(parts[1]).at(0)).id == 1009);  // The event of id 450.
}

TEST_CASE("one part is the whole", "[nexmark][generator]") {
  const std::vector<GeneratorConfig> parts = split(one_timeline());
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].events == 100'000);
}

TEST_CASE("a group is shuffled, and none of it comes before its watermark",
          "[nexmark][generator]") {
  GeneratorConfig config = one_timeline();
  config.events = 2'000;
  config.events_per_second = 1'000;
  std::vector<Event> in_order = all_events(config);
  config.out_of_order_group = 100;
  const Generator generator(config);
  std::vector<Event> shuffled;
  for (std::int64_t i = 0; i < generator.size(); ++i) shuffled.push_back(generator.at(i));

  CHECK(times_of(generator, 3) == std::vector<std::int64_t>{0, 53, 6});
  CHECK(generator.watermark_at(99).ms == base);
  CHECK(generator.watermark_at(100).ms == base + 100);
  std::int64_t earliest = shuffled.back().at.ms;
  for (std::int64_t i = generator.size() - 1; i >= 0; --i) {
    earliest = std::min(earliest, shuffled[static_cast<std::size_t>(i)].at.ms);
    REQUIRE(generator.watermark_at(i).ms <= earliest);
  }
  // What an auction lasts counts from its number, so the events are the same in another order.
  std::ranges::sort(in_order);
  std::ranges::sort(shuffled);
  CHECK(shuffled == in_order);
}

TEST_CASE("auctions last a millisecond when the rate leaves no time", "[nexmark][generator]") {
  GeneratorConfig config = one_timeline();
  config.events_per_second = 1'000'000;
  config.auctions_in_flight = 1;
  const Auction auction = auction_of(Generator(config).at(1));
  CHECK(auction.expires - auction.at == Duration{1});
}

TEST_CASE("a configuration out of range is refused by name", "[nexmark][generator]") {
  refuses({.events = -1}, "`events` is -1");
  refuses({.events_per_second = 0}, "`events_per_second` is 0; 1 to 1000000 is expected");
  refuses({.events_per_second = 1'000'001}, "`events_per_second`");
  refuses({.generators = 0}, "`generators` is 0");
  refuses({.out_of_order_group = 0}, "`out_of_order_group` is 0");
  refuses({.hot_auction_ratio = 0}, "`hot_auction_ratio` is 0");
  refuses({.bid_bytes = -1}, "`bid_bytes` is -1");
  refuses({.events = 1'000'000'000'000, .events_per_second = 1}, "`events` is 1000000000000");
}
