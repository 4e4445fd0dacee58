#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/nexmark/event.hpp"

#include "nexmark_tally.hpp"

namespace millrace::bench {

// What a query takes at least: the loop that somebody would write by hand who needs nothing else.
// One thread, no exchange, no checkpoints, nothing behind a virtual call.
//
// Each reads events in the order of their times, as one generator makes them, and still keeps what
// it knows for as long as a processor must that has been told of `disorder`. What
// nexmark::reference says of a query is true of its floor, q12 and q17 excepted.

using Events = std::span<const nexmark::Event>;

inline constexpr Duration disorder{4'000};

// Rows go through a batch that stays in the first cache, and are read there once.
Tally floor_q0(Events events);
Tally floor_q1(Events events);
Tally floor_q2(Events events);

Tally floor_q4(Events events);
/// Counts per pane of a slide, and a running total to which panes are added and from which they are
/// taken away.
Tally floor_q5(Events events);
Tally floor_q7(Events events);
Tally floor_q8(Events events);
Tally floor_q11(Events events);
/// Windows of event time in the place of a clock's. The check is that of all bids per bidder, in
/// whatever windows they are counted; the number of rows is not.
Tally floor_q12(Events events);
/// A row for every bid: so many rows. The check is that of the last ones.
Tally floor_q17(Events events);

struct Floor {
  std::string_view name;
  std::int64_t events_per_second;  ///< Of event time: how many keys there are at once.
  Tally (*run)(Events);
};

/// All of them, those of one rate side by side.
std::span<const Floor> floors();

}  // namespace millrace::bench
