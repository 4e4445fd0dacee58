#pragma once

#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/results.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/sink.hpp"
#include "millrace/runtime/source.hpp"

namespace millrace::nexmark {

// The queries as jobs. Each is a file of its own, which says on top what it means; its rows are
// those of nexmark::reference, whatever partitions the events come in and however these interleave,
// as long as none is more than `out_of_order` late within its partition.
//
// The source is called `events`, and the sink as the query.

/// What the queries wait for: the benchmark's own number, as its SQL has it.
inline constexpr Disorder out_of_order{Duration{4'000}};

Job q0(const Source<Event>& events, const Sink<Event>& rows);
Job q1(const Source<Event>& events, const Sink<Bid>& rows);
Job q2(const Source<Event>& events, const Sink<WatchedBid>& rows);
Job q3(const Source<Event>& events, const Sink<LocalOffer>& rows);
Job q4(const Source<Event>& events, const Sink<CategoryPrice>& rows);
Job q5(const Source<Event>& events, const Sink<HotAuction>& rows);
Job q7(const Source<Event>& events, const Sink<Bid>& rows);
Job q8(const Source<Event>& events, const Sink<NewSeller>& rows);
Job q11(const Source<Event>& events, const Sink<BidSession>& rows);

/// Its rows are of a clock's windows, and so others in every run. What holds is that a bidder's
/// counts add up to `reference::q12`.
Job q12(const Source<Event>& events, const Sink<BidderCount>& rows);
/// Such counts added up: a row for each, the last of which is `reference::q12`. For an upsert
/// table, and for those who want to see that it holds: windows are of a second here, so that a
/// short run has several.
Job q12_total(const Source<Event>& events, const Sink<BidderCount>& rows);

// A row for every bid, in the place of the one with its key: the last ones are those of the
// reference. For upsert tables.

Job q17(const Source<Event>& events, const Sink<AuctionDay>& rows);
Job q18(const Source<Event>& events, const Sink<Bid>& rows);

}  // namespace millrace::nexmark
