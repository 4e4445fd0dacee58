#include "reference_time.hpp"

#include <regex>
#include <string>

#include <boost/multiprecision/cpp_int.hpp>

#include "millrace/env/event_time.hpp"

namespace millrace::properties {
namespace {

using Wide = boost::multiprecision::int128_t;

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_of_month(int year, int month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/// Days from the first of the year 1, counted.
std::int64_t days_before(int year, int month, int day) {
  const std::int64_t past = year - 1;
  std::int64_t days = past * 365 + past / 4 - past / 100 + past / 400;
  for (int i = 1; i < month; ++i) days += days_of_month(year, i);
  return days + day - 1;
}

std::optional<Wide> iso_ms(const std::string& text) {
  static const std::regex form(
      R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d)))");
  std::smatch found;
  if (!std::regex_match(text, found, form)) return std::nullopt;
  const auto part = [&](std::size_t i) { return found[i].matched ? std::stoi(found[i]) : 0; };
  const int year = part(1);
  const int month = part(2);
  if (month < 1 || month > 12 || part(3) < 1 || part(3) > days_of_month(year, month)) {
    return std::nullopt;
  }
  if (part(4) > 23 || part(5) > 59 || part(6) > 59 || part(9) > 23 || part(10) > 59) {
    return std::nullopt;
  }
  const std::int64_t day = days_before(year, month, part(3)) - days_before(1970, 1, 1);
  Wide ms = ((Wide(day) * 24 + part(4)) * 60 + part(5)) * 60 + part(6);
  ms *= 1000;
  if (found[7].matched) ms += std::stoi((found[7].str() + "00").substr(0, 3));
  const Wide ahead = (Wide(part(9)) * 60 + part(10)) * 60'000;
  return found[8] == "-" ? Wide(ms + ahead) : Wide(ms - ahead);
}

std::optional<Wide> wide_ms(const OwnedCell& cell, TimeFormat format) {
  if (format == TimeFormat::iso8601) return iso_ms(std::get<std::string>(cell));
  const Wide number = std::get<std::int64_t>(cell);
  if (format == TimeFormat::s) return Wide(number * 1000);
  if (format == TimeFormat::us)
    return number < 0 ? Wide((number - 999) / 1000) : Wide(number / 1000);
  return number;
}

}  // namespace

std::optional<std::int64_t> reference_time(const OwnedCell& cell, TimeFormat format) {
  const auto ms = wide_ms(cell, format);
  if (!ms || *ms < earliest_event_time.ms || *ms > latest_event_time.ms) return std::nullopt;
  return static_cast<std::int64_t>(*ms);
}

}  // namespace millrace::properties
