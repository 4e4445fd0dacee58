#include "millrace/nexmark/generator.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "event_draws.hpp"
#include "ids.hpp"

namespace millrace::nexmark {
namespace {

constexpr std::int64_t us_per_second = 1'000'000;

void check(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw UsageError(
      fmt::format("nexmark: `{}` is {}; {} to {} is expected", name, value, least, most));
}

/// Rounded before the generators share it: three events a second are 333,333 us apart.
std::int64_t us_between(const GeneratorConfig& config) {
  check("events_per_second", config.events_per_second, 1, us_per_second);
  check("generators", config.generators, 1, 1000);
  return (us_per_second + config.events_per_second / 2) / config.events_per_second *
         config.generators;
}

/// Nothing within these bounds overflows, and no time lies outside of what a record may carry.
void check(const GeneratorConfig& config) {
  constexpr std::int64_t large = 1'000'000;
  constexpr std::int64_t longest_us = 100'000'000'000'000'000;
  check("events", config.events, 0, longest_us / us_between(config));
  check("first_event_id", config.first_event_id, 0, longest_us);
  check("base_time", config.base_time.ms, 0, latest_event_time.ms / 2);
  check("out_of_order_group", config.out_of_order_group, 1, large);
  check("hot_auction_ratio", config.hot_auction_ratio, 1, large);
  check("hot_seller_ratio", config.hot_seller_ratio, 1, large);
  check("hot_bidder_ratio", config.hot_bidder_ratio, 1, large);
  check("auctions_in_flight", config.auctions_in_flight, 1, large);
  check("active_people", config.active_people, 1, large);
  check("person_bytes", config.person_bytes, 0, large);
  check("auction_bytes", config.auction_bytes, 0, large);
  check("bid_bytes", config.bid_bytes, 0, large);
}

}  // namespace

std::vector<GeneratorConfig> split(const GeneratorConfig& config) {
  check(config);
  std::vector<GeneratorConfig> parts(static_cast<std::size_t>(config.generators), config);
  const std::int64_t share = config.events / config.generators;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].first_event_id += static_cast<std::int64_t>(i) * share;
    parts[i].events = share;
  }
  parts.back().events += config.events % config.generators;
  return parts;
}

Generator::Generator(const GeneratorConfig& config)
    : config_(config), us_per_event_(us_between(config)) {
  check(config);
}

std::int64_t Generator::number_at(std::int64_t place) const {
  constexpr std::int64_t stride = 953;
  const std::int64_t group = config_.out_of_order_group;
  if (group == 1) return place;  // Saves most of the divisions.
  return place / group * group + place * stride % group;
}

EventTime Generator::time_of(std::int64_t number) const {
  return config_.base_time + Duration{number * us_per_event_ / 1000};
}

EventTime Generator::watermark_at(std::int64_t place) const {
  const std::int64_t group = config_.out_of_order_group;
  return time_of(place / group * group);
}

Event Generator::make(std::int64_t place, Texts* texts) const {
  const std::int64_t number = number_at(place);
  const std::int64_t event_id = config_.first_event_id + number;
  const EventTime at = time_of(number);
  if (texts != nullptr) *texts = {};
  JavaRandom random(event_id);
  const std::int64_t in_round = event_id % round_length;
  if (in_round < persons_a_round) {
    return event_of(draw_person(random, event_id, at, config_, texts));
  }
  if (in_round < persons_a_round + auctions_a_round) {
    const std::int64_t ahead = config_.auctions_in_flight * round_length / auctions_a_round;
    const Duration horizon = time_of(number + ahead) - at;
    return event_of(draw_auction(random, event_id, at, horizon, config_, texts));
  }
  return event_of(draw_bid(random, event_id, at, config_, texts));
}

std::vector<Event> all_events(const GeneratorConfig& config) {
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(config.events));
  for (const GeneratorConfig& part : split(config)) {
    const Generator generator(part);
    for (std::int64_t i = 0; i < generator.size(); ++i) events.push_back(generator.at(i));
  }
  return events;
}

}  // namespace millrace::nexmark
