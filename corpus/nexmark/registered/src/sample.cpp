#include "sample.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/text.hpp"

namespace millrace::nexmark {

properties::Input sample(std::uint64_t records) {
  GeneratorConfig whole;
  whole.events = static_cast<std::int64_t>(records);
  whole.events_per_second = 10;
  whole.generators = 4;
  whole.out_of_order_group = 4;
  // Where there is an auction that q2 watches; and few of anything at a time, so that most come,
  // meet and go. Of a power of two Java's draws for ids so close together are all the same.
  whole.first_event_id = 1'500;
  whole.hot_auction_ratio = 3;
  whole.auctions_in_flight = 10;
  whole.active_people = 4;
  whole.hot_seller_ratio = 1;
  whole.hot_bidder_ratio = 1;
  properties::Input input;
  for (const GeneratorConfig& part : split(whole)) {
    const Generator generator(part);
    std::string text;
    for (std::int64_t place = 0; place < generator.size(); ++place) {
      text += to_text(generator.at(place)) + "\n";
    }
    input.partitions.push_back(
        {fmt::format("events-{}.jsonl", input.partitions.size()), std::move(text), ""});
  }
  return input;
}

std::vector<Event> events_in(const properties::Input& input) {
  EventParser parser;
  std::vector<Event> events;
  for (const properties::InputPartition& partition : input.partitions) {
    std::string_view left = partition.text;
    while (!left.empty()) {
      const std::string_view line = left.substr(0, left.find('\n'));
      if (!line.empty()) events.push_back(parser.parse(line));
      left.remove_prefix(std::min(line.size() + 1, left.size()));
    }
  }
  return events;
}

}  // namespace millrace::nexmark
