#pragma once

#include <span>
#include <vector>

#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/results.hpp"

namespace millrace::nexmark::reference {

// What each query must show: the plain definition, one pass after the other over all events, in
// maps that anybody can check. Shares no code with the processor. Rows come sorted; a row that is
// due twice stands there twice.
//
// All of it is a function of the set of events: neither their order nor the parts they came in
// matter, and none is late. q0 to q12 mean what they mean in Apache Beam, whose default trigger
// gives a window's rows once, when the watermark passes its end. Windows are aligned to the epoch;
// a window without rows does not exist. q17 and q18 mean what they mean in SQL.

using Events = std::span<const Event>;

/// Every event, as it is.
std::vector<Event> q0(Events events);

/// Every bid, its price in euros (`euros`).
std::vector<Bid> q1(Events events);

/// Auction and price of every bid for an auction whose id `auction_skip` divides.
std::vector<WatchedBid> q2(Events events);

/// Name, city and state of the seller, and the auction: for every auction of `wanted_category` by a
/// person of a wanted state, whichever of the two comes first.
///
/// A join without end. Beam forgets a person, and auctions that wait for one, 600 s of event time
/// after the last event about that person; this remembers.
std::vector<LocalOffer> q3(Events events);

/// The average price, per category and sliding window, of what was sold.
///
/// An auction is sold to the highest bid with at least the reserve that was made before it expires,
/// also before it opens. It counts at the last instant before it expires, and so in two windows.
/// The average is rounded, halves up.
std::vector<CategoryPrice> q4(Events events);

/// The auctions with the most bids, all of them if there are several, per sliding window.
std::vector<HotAuction> q5(Events events);

/// The bids with the highest price, all of them if there are several, per tumbling window.
std::vector<Bid> q7(Events events);

/// Every auction whose seller came in the same tumbling window: id and name of the seller, and the
/// reserve.
std::vector<NewSeller> q8(Events events);

/// The number of bids per bidder and session. A bid belongs to the session of the one before it if
/// it is made less than `window_size` later.
///
/// Beam also gives a count early, and begins again, whenever a session has 100,000 bids more; here
/// a session gives one row, at its end.
std::vector<BidSession> q11(Events events);

/// All bids per bidder.
///
/// The query counts in windows of a clock, which begin with a bidder's first bid and last
/// `window_size`: how bids fall into them is no function of the events. What must hold is that
/// the counts of a bidder add up to this.
std::vector<BidderCount> q12(Events events);

/// Per auction and day: all bids, those of the three ranks, the least, greatest, average and sum of
/// their prices. The average is rounded towards zero, as SQL has it for whole numbers.
///
/// SQL gives a new row for every bid, in the place of the one before; these are the last ones.
std::vector<AuctionDay> q17(Events events);

/// The last bid per bidder and auction. Of several at one time SQL may take any: here it is the one
/// with the highest price.
std::vector<Bid> q18(Events events);

}  // namespace millrace::nexmark::reference
