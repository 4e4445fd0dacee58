#pragma once

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/java_random.hpp"

namespace millrace::nexmark {

// What happens at an event's id: draws, in the benchmark's order. `random` has been made of the id.
// Texts are kept if `texts` is not null.

Person draw_person(JavaRandom& random, std::int64_t event_id, EventTime at,
                   const GeneratorConfig& config, Texts* texts);

/// `horizon` is how long it takes until as many auctions as are in flight have been opened anew: an
/// auction lasts that long on average.
Auction draw_auction(JavaRandom& random, std::int64_t event_id, EventTime at, Duration horizon,
                     const GeneratorConfig& config, Texts* texts);

Bid draw_bid(JavaRandom& random, std::int64_t event_id, EventTime at, const GeneratorConfig& config,
             Texts* texts);

}  // namespace millrace::nexmark
