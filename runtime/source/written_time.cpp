#include "millrace/runtime/source/written_time.hpp"

#include <chrono>

namespace millrace {
namespace {

/// Takes what stands at the front of a text.
class Front {
 public:
  explicit Front(std::string_view text) : left_(text) {}

  /// So many digits, as a number.
  std::optional<int> number(std::size_t digits) {
    if (left_.size() < digits) return std::nullopt;
    int number = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(left_[i])) return std::nullopt;
      number = 10 * number + (left_[i] - '0');
    }
    left_.remove_prefix(digits);
    return number;
  }
  /// Any of these; else 0.
  char one_of(std::string_view signs) {
    if (left_.empty() || signs.find(left_.front()) == std::string_view::npos) return 0;
    const char sign = left_.front();
    left_.remove_prefix(1);
    return sign;
  }
  /// All digits there are, at least one, as parts of a thousand.
  std::optional<int> thousandths() {
    if (left_.empty() || !is_digit(left_.front())) return std::nullopt;
    int parts = 0;
    for (int unit = 100; !left_.empty() && is_digit(left_.front()); unit /= 10) {
      parts += (left_.front() - '0') * unit;
      left_.remove_prefix(1);
    }
    return parts;
  }
  bool is_empty() const { return left_.empty(); }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  std::string_view left_;
};

std::optional<std::int64_t> days_of_date(Front& text) {
  const auto year = text.number(4);
  if (!year || text.one_of("-") == 0) return std::nullopt;
  const auto month = text.number(2);
  if (!month || text.one_of("-") == 0) return std::nullopt;
  const auto day = text.number(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<std::int64_t> ms_of_day(Front& text) {
  const auto hour = text.number(2);
  if (!hour || *hour > 23 || text.one_of(":") == 0) return std::nullopt;
  const auto minute = text.number(2);
  if (!minute || *minute > 59 || text.one_of(":") == 0) return std::nullopt;
  const auto second = text.number(2);
  if (!second || *second > 59) return std::nullopt;
  std::optional<int> parts = 0;
  if (text.one_of(".") != 0) parts = text.thousandths();
  if (!parts) return std::nullopt;
  return ((*hour * 60 + *minute) * 60 + *second) * std::int64_t{1000} + *parts;
}

/// How far the time that is written is ahead of UTC.
std::optional<std::int64_t> ms_ahead(Front& text) {
  const char sign = text.one_of("Z+-");
  if (sign == 'Z') return 0;
  if (sign == 0) return std::nullopt;
  const auto hours = text.number(2);
  if (!hours || *hours > 23 || text.one_of(":") == 0) return std::nullopt;
  const auto minutes = text.number(2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const std::int64_t ms = (*hours * 60 + *minutes) * std::int64_t{60'000};
  return sign == '-' ? -ms : ms;
}

std::optional<EventTime> in_range(EventTime time) {
  if (time < earliest_event_time || time > latest_event_time) return std::nullopt;
  return time;
}

}  // namespace

std::optional<EventTime> parse_iso8601(std::string_view text) {
  Front front(text);
  const auto days = days_of_date(front);
  if (!days || front.one_of("T ") == 0) return std::nullopt;
  const auto ms = ms_of_day(front);
  if (!ms) return std::nullopt;
  const auto ahead = ms_ahead(front);
  if (!ahead || !front.is_empty()) return std::nullopt;
  return EventTime{*days * 86'400'000 + *ms - *ahead};
}

std::optional<EventTime> WrittenTime::read(const Row& row) const {
  if (format == TimeFormat::iso8601) {
    const auto time = parse_iso8601(row.text(field));
    return time ? in_range(*time) : std::nullopt;
  }
  const std::int64_t number = row.integer(field);
  switch (format) {
    case TimeFormat::s:
      // Beyond these a time is out of range, and could not be told in milliseconds.
      if (number < earliest_event_time.ms / 1000 || number > latest_event_time.ms / 1000) {
        return std::nullopt;
      }
      return in_range({number * 1000});
    case TimeFormat::us: {
      const std::int64_t ms = number / 1000 - (number % 1000 < 0 ? 1 : 0);
      return in_range({ms});
    }
    default: return in_range({number});
  }
}

}  // namespace millrace
