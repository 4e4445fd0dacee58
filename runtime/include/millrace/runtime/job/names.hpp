#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/operators/row_aggregate.hpp"
#include "millrace/runtime/row.hpp"
#include "millrace/runtime/source/written_rows.hpp"

namespace millrace {

// How job files write types, spans and folds: read and written in one place.

/// `string`, `int64`, `float64`, with `?` if it may be null.
std::string type_text(const Field& field);
/// Sets type and nullability. False: there is no such type.
bool parse_type(std::string_view text, Field& field);

/// `network = string`.
std::string describe(const Field& field);

/// `90s`, `168h`: in the largest unit that divides it.
std::string describe(Duration span);
/// A whole number and `ms`, `s`, `min`, `h` or `d`. Nothing: it is none, or too large.
std::optional<Duration> parse_duration(std::string_view text);

std::string describe(OnBadRecord what);
/// `jsonl`, `csv`.
std::string_view describe(RowFormat format);
/// The format of that name, or nothing.
std::optional<RowFormat> find_row_format(std::string_view name);
/// `ms`, `iso8601`.
std::string_view describe(TimeFormat format);
/// The format of that name, or nothing.
std::optional<TimeFormat> find_time_format(std::string_view name);
/// As job files name it: `staged`.
std::string_view describe(SinkMode mode);
/// The mode of that name, or nothing.
std::optional<SinkMode> find_sink_mode(std::string_view name);

/// `max(magnitude)`.
std::string describe(const AggregateColumn& column, const std::vector<Field>& fields);
/// The fold of that name, or nothing.
std::optional<AggregateColumn::Fold> find_fold(std::string_view name);

}  // namespace millrace
