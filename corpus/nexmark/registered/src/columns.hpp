#pragma once

#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/results.hpp"
#include "millrace/nexmark/text.hpp"

namespace millrace::nexmark {

// What a row is in a table: calls `column(name, value)` for each of its cells, in order.

template <class Column>
void each_column(const Event& row, Column&& column) {
  column("at", row.at);
  column("event", to_text(row));
}
template <class Column>
void each_column(const Bid& row, Column&& column) {
  column("auction", row.auction);
  column("bidder", row.bidder);
  column("price", row.price);
  column("at", row.at);
}
template <class Column>
void each_column(const WatchedBid& row, Column&& column) {
  column("auction", row.auction);
  column("price", row.price);
}
template <class Column>
void each_column(const LocalOffer& row, Column&& column) {
  column("name", row.name);
  column("city", row.city);
  column("state", row.state);
  column("auction", row.auction);
}
template <class Column>
void each_column(const CategoryPrice& row, Column&& column) {
  column("window_end", row.window_end);
  column("category", row.category);
  column("price", row.price);
}
template <class Column>
void each_column(const HotAuction& row, Column&& column) {
  column("window_end", row.window_end);
  column("auction", row.auction);
  column("bids", row.bids);
}
template <class Column>
void each_column(const NewSeller& row, Column&& column) {
  column("window_end", row.window_end);
  column("person", row.person);
  column("name", row.name);
  column("reserve", row.reserve);
}
template <class Column>
void each_column(const BidSession& row, Column&& column) {
  column("bidder", row.bidder);
  column("start", row.start);
  column("end", row.end);
  column("bids", row.bids);
}
template <class Column>
void each_column(const BidderCount& row, Column&& column) {
  column("bidder", row.bidder);
  column("bids", row.bids);
}
template <class Column>
void each_column(const AuctionDay& row, Column&& column) {
  column("auction", row.auction);
  column("day", row.day);
  column("bids", row.bids);
  column("first_rank", row.first_rank);
  column("second_rank", row.second_rank);
  column("third_rank", row.third_rank);
  column("least", row.least);
  column("most", row.most);
  column("average", row.average);
  column("total", row.total);
}

}  // namespace millrace::nexmark
