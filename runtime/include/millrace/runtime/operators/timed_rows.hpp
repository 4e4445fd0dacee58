#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/batch.hpp"

namespace millrace {

/// Rows of one key that wait for rows of another stream: by time, and at one time as they came.
template <class T>
struct TimedRows {
  std::vector<Record<T>> rows;

  bool empty() const { return rows.empty(); }
  EventTime first() const { return rows.front().time; }

  void add(EventTime time, T value) {
    auto at = rows.end();
    while (at != rows.begin() && std::prev(at)->time > time) --at;  // Most rows are the newest.
    rows.insert(at, Record<T>{time, std::move(value)});
  }

  /// The rows from `first` to `last`, both included.
  std::span<const Record<T>> between(EventTime first, EventTime last) const {
    const auto from = begin_of(first);
    const auto to = std::partition_point(from, rows.end(),
                                         [&](const Record<T>& row) { return row.time <= last; });
    return {from, to};
  }

  void drop_before(EventTime time) { rows.erase(rows.begin(), begin_of(time)); }

  /// The same, if that is at least half of them; looks only at numbers of rows that are powers of
  /// two. So dropping costs less than adding did, and the room that is wasted is bounded.
  void tidy_before(EventTime time) {
    constexpr std::size_t few = 8;
    if (rows.size() < few || !std::has_single_bit(rows.size())) return;
    if (rows[rows.size() / 2].time < time) drop_before(time);
  }

 private:
  auto begin_of(EventTime time) const {
    return std::partition_point(rows.begin(), rows.end(),
                                [&](const Record<T>& row) { return row.time < time; });
  }
};

}  // namespace millrace
