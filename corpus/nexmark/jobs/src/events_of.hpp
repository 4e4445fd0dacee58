#pragma once

#include "millrace/nexmark/jobs.hpp"
#include "millrace/runtime/stream.hpp"

namespace millrace::nexmark {

// How the queries begin. What these return is still open: whatever follows is fused with it.

inline auto all_of(const Source<Event>& events) {
  return from("events", events).event_time<&Event::at>(out_of_order);
}
inline auto bids_of(const Source<Event>& events) {
  return all_of(events).filter<&is_bid>().map<&bid_of>();
}

}  // namespace millrace::nexmark
