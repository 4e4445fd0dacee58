#pragma once

#include <algorithm>
#include <vector>

#include "millrace/nexmark/reference.hpp"

namespace millrace::nexmark::reference {

template <class Visit>
void for_each_person(Events events, Visit visit) {
  for (const Event& event : events) {
    if (is_person(event)) visit(person_of(event));
  }
}
template <class Visit>
void for_each_auction(Events events, Visit visit) {
  for (const Event& event : events) {
    if (is_auction(event)) visit(auction_of(event));
  }
}
template <class Visit>
void for_each_bid(Events events, Visit visit) {
  for (const Event& event : events) {
    if (is_bid(event)) visit(bid_of(event));
  }
}

template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
  std::ranges::sort(rows);
  return rows;
}

}  // namespace millrace::nexmark::reference
