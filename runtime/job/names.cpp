#include "millrace/runtime/job/names.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace millrace {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
constexpr Unit units[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}};

/// Spans beyond it would let sums of times overflow (event_time.hpp).
constexpr std::int64_t longest_days = 100'000;

constexpr std::pair<std::string_view, AggregateColumn::Fold> folds[] = {
    {"count", AggregateColumn::Fold::count},
    {"count_distinct", AggregateColumn::Fold::count_distinct},
    {"sum", AggregateColumn::Fold::sum},
    {"min", AggregateColumn::Fold::minimum},
    {"max", AggregateColumn::Fold::maximum},
    {"avg", AggregateColumn::Fold::average}};

}  // namespace

std::string type_text(const Field& field) {
  const char* const type = field.type == FieldType::integer ? "int64"
                           : field.type == FieldType::real  ? "float64"
                                                            : "string";
  return field.nullable ? fmt::format("{}?", type) : type;
}

bool parse_type(std::string_view text, Field& field) {
  field.nullable = text.ends_with('?');
  if (field.nullable) text.remove_suffix(1);
  if (text == "int64") {
    field.type = FieldType::integer;
  } else if (text == "float64") {
    field.type = FieldType::real;
  } else if (text == "string") {
    field.type = FieldType::text;
  } else {
    return false;
  }
  return true;
}

std::string describe(const Field& field) {
  return fmt::format("{} = {}", field.name, type_text(field));
}

std::string describe(Duration span) {
  for (const Unit& unit : units) {
    if (span.count() != 0 && span.count() % unit.ms == 0) {
      return fmt::format("{}{}", span.count() / unit.ms, unit.name);
    }
  }
  return "0s";
}

std::optional<Duration> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number > longest_days * units[0].ms / unit.ms) return std::nullopt;
    return Duration{number * unit.ms};
  }
  return std::nullopt;
}

std::string_view describe(TimeFormat format) {
  switch (format) {
    case TimeFormat::ms: return "ms";
    case TimeFormat::s: return "s";
    case TimeFormat::us: return "us";
    case TimeFormat::iso8601: return "iso8601";
  }
  return "";
}

std::optional<TimeFormat> find_time_format(std::string_view name) {
  for (const TimeFormat format :
       {TimeFormat::ms, TimeFormat::s, TimeFormat::us, TimeFormat::iso8601}) {
    if (describe(format) == name) return format;
  }
  return std::nullopt;
}

std::string describe(OnBadRecord what) { return what == OnBadRecord::fail ? "fail" : "skip"; }

std::string_view describe(RowFormat format) { return format == RowFormat::jsonl ? "jsonl" : "csv"; }

std::optional<RowFormat> find_row_format(std::string_view name) {
  for (const RowFormat format : {RowFormat::jsonl, RowFormat::csv}) {
    if (describe(format) == name) return format;
  }
  return std::nullopt;
}

std::string_view describe(SinkMode mode) {
  switch (mode) {
    case SinkMode::staged: return "staged";
    case SinkMode::upsert: return "upsert";
    case SinkMode::insert: return "insert";
  }
  return "";
}

std::optional<SinkMode> find_sink_mode(std::string_view name) {
  for (const SinkMode mode : {SinkMode::staged, SinkMode::upsert, SinkMode::insert}) {
    if (describe(mode) == name) return mode;
  }
  return std::nullopt;
}

std::string describe(const AggregateColumn& column, const std::vector<Field>& fields) {
  const auto* const fold = std::find_if(std::begin(folds), std::end(folds), [&](const auto& pair) {
    return pair.second == column.fold;
  });
  return fmt::format("{}({})", fold->first, column.of_rows ? "" : fields[column.field].name);
}

std::optional<AggregateColumn::Fold> find_fold(std::string_view name) {
  for (const auto& [known, fold] : folds) {
    if (known == name) return fold;
  }
  return std::nullopt;
}

}  // namespace millrace
