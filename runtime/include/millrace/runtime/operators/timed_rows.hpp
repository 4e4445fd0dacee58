#pragma once

#include <cstdint>
#include <ranges>
#include <utility>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/batch.hpp"
#include "millrace/runtime/state/few.hpp"

namespace millrace {

/// Rows of one key that wait for rows of another stream: by time, and at one time as they came.
template <class T>
struct TimedRows {
  Few<Record<T>> rows;

  bool empty() const { return rows.empty(); }
  EventTime first() const { return rows[0].time; }

  void add(EventTime time, T value) {
    std::uint32_t at = rows.size();
    while (at > 0 && rows[at - 1].time > time) --at;  // Most rows are the newest.
    rows.insert(at, Record<T>{time, std::move(value)});
  }

  /// The rows from `first` to `last`, both included. Good until the next change.
  auto between(EventTime first, EventTime last) const {
    const auto row = [this](std::uint32_t i) -> const Record<T>& { return rows[i]; };
    const std::uint32_t begin = count_before(first);
    std::uint32_t end = begin;
    while (end < rows.size() && rows[end].time <= last) ++end;
    return std::views::iota(begin, end) | std::views::transform(row);
  }

  void drop_before(EventTime time) { rows.erase_first(count_before(time)); }

  /// The same, if that is more than half of them; looks only at numbers of rows that are powers of
  /// two. So dropping costs less than adding did, and the room that is wasted is bounded.
  void tidy_before(EventTime time) {
    const std::uint32_t size = rows.size();
    const bool is_power_of_two = (size & (size - 1)) == 0;
    if (size > 0 && is_power_of_two && rows[size / 2].time < time) drop_before(time);
  }

 private:
  std::uint32_t count_before(EventTime time) const {
    std::uint32_t begin = 0;
    std::uint32_t end = rows.size();
    while (begin < end) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (rows[middle].time < time) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};

}  // namespace millrace
