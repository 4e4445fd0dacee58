#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/row.hpp"

namespace millrace {

/// How records write their event time: whole numbers since 1970, UTC, or texts.
enum class TimeFormat : std::uint8_t { ms, s, us, iso8601 };

/// Which field of a row holds its event time, and how. A field of whole numbers, or for `iso8601`
/// of texts; never null.
struct WrittenTime {
  std::uint32_t field = 0;
  TimeFormat format = TimeFormat::ms;
  friend bool operator==(const WrittenTime&, const WrittenTime&) = default;

  /// Nothing: it is no time of the years 1 to 9999. What is finer than a millisecond is cut off,
  /// towards the past.
  std::optional<EventTime> read(const Row& row) const;
  /// Of a row that was read before, whose time is one.
  EventTime operator()(const Row& row) const {
    return format == TimeFormat::ms ? EventTime{row.integer(field)} : *read(row);
  }
};

/// `2026-03-01T12:00:00.25+01:00`: date, `T` or a blank, time, perhaps a fraction of a second, and
/// `Z` or the distance from UTC. Nothing: it is no such text.
std::optional<EventTime> parse_iso8601(std::string_view text);

}  // namespace millrace
