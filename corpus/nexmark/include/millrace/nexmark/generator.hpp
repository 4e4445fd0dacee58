#pragma once

#include <cstdint>
#include <vector>

#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/texts.hpp"

namespace millrace::nexmark {

/// Which events there are. The defaults are those of Apache Beam.
struct GeneratorConfig {
  std::int64_t events = 100'000;
  std::int64_t first_event_id = 0;
  EventTime base_time{1'436'918'400'000};  ///< 2015-07-15, midnight.
  std::int64_t events_per_second = 10'000;
  /// How many timelines share the rate: each has its part of the ids and begins at the base time.
  std::int32_t generators = 100;
  /// Within each so many events the order is shuffled, always alike; 1 leaves it.
  std::int64_t out_of_order_group = 1;

  // One in so many is for anybody, the rest for whoever is hot.
  std::int32_t hot_auction_ratio = 2;
  std::int32_t hot_seller_ratio = 4;
  std::int32_t hot_bidder_ratio = 4;
  std::int64_t auctions_in_flight = 100;
  std::int64_t active_people = 1000;

  // What an event measures on average, texts included. The texts are made to fit.
  std::int32_t person_bytes = 200;
  std::int32_t auction_bytes = 500;
  std::int32_t bid_bytes = 100;
};

/// The same events in `config.generators` parts, a partition each. All begin at the base time and
/// together keep the rate.
///
/// Throws UsageError, as Generator does.
std::vector<GeneratorConfig> split(const GeneratorConfig& config);

/// The events of one part, as a function of their place: there is no state to keep or restore.
///
/// Equal to what Apache Beam's generator makes, field by field: every event is drawn by
/// java.util.Random out of its own id, in the same order of draws. Of 50 ids one is a person, three
/// are auctions, 46 are bids. A constant rate only; prices may differ by a cent (price.hpp).
class Generator {
 public:
  /// Throws UsageError: a number is out of range. The text names it.
  explicit Generator(const GeneratorConfig& config);

  std::int64_t size() const { return config_.events; }

  /// The event at `place`, in [0, size()).
  Event at(std::int64_t place) const { return make(place, nullptr); }
  /// The same, with its texts: several times the work.
  Event at(std::int64_t place, Texts& texts) const { return make(place, &texts); }

  /// No event at `place` or behind it has an earlier time.
  EventTime watermark_at(std::int64_t place) const;

 private:
  Event make(std::int64_t place, Texts* texts) const;
  std::int64_t number_at(std::int64_t place) const;
  EventTime time_of(std::int64_t number) const;

  GeneratorConfig config_;
  std::int64_t us_per_event_;
};

/// All events of all parts, one part behind the other.
std::vector<Event> all_events(const GeneratorConfig& config);

}  // namespace millrace::nexmark
