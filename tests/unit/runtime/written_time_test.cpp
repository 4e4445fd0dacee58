#include "millrace/runtime/source/written_time.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace millrace;

namespace {

std::optional<std::int64_t> iso(std::string_view text) {
  const auto time = parse_iso8601(text);
  return time ? std::optional(time->ms) : std::nullopt;
}

std::optional<std::int64_t> number(TimeFormat format, std::int64_t value) {
  Row row(1);
  row.set_integer(0, value);
  const auto time = WrittenTime{0, format}.read(row);
  return time ? std::optional(time->ms) : std::nullopt;
}

}  // namespace

TEST_CASE("a time is written in milliseconds, seconds or microseconds", "[runtime][time]") {
  CHECK(number(TimeFormat::ms, -5) == -5);
  CHECK(number(TimeFormat::s, 90) == 90'000);
  CHECK(number(TimeFormat::s, -1) == -1000);
  CHECK(number(TimeFormat::us, 1'999) == 1);
}

TEST_CASE("what is finer than a millisecond is cut off towards the past", "[runtime][time]") {
  CHECK(number(TimeFormat::us, -1) == -1);
  CHECK(number(TimeFormat::us, -1000) == -1);
  CHECK(number(TimeFormat::us, -1001) == -2);
  CHECK(iso("1969-12-31T23:59:59.9999Z") == -1);
  CHECK(iso("1970-01-01T00:00:00.0019999Z") == 1);
}

TEST_CASE("a time is of the years 1 to 9999, in every format", "[runtime][time]") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(number(TimeFormat::s, -62'135'596'800) == earliest_event_time.ms);
  CHECK_FALSE(number(TimeFormat::s, -62'135'596'801));
  CHECK(number(TimeFormat::s, 253'402'300'799) == latest_event_time.ms - 999);
  CHECK_FALSE(number(TimeFormat::s, 253'402'300'800));
  CHECK_FALSE(number(TimeFormat::s, most));
  CHECK_FALSE(number(TimeFormat::s, -most));
  CHECK(number(TimeFormat::us, 253'402'300'799'999'999) == latest_event_time.ms);
  CHECK_FALSE(number(TimeFormat::us, 253'402'300'800'000'000));
  CHECK_FALSE(number(TimeFormat::us, most));
  CHECK_FALSE(number(TimeFormat::us, -most));

  Row row(1);
  row.set_text(0, "0001-01-01T00:00:00+00:01");  // In the year 0, of UTC.
  CHECK_FALSE(WrittenTime{0, TimeFormat::iso8601}.read(row));
}

TEST_CASE("a text says date, time and distance from UTC", "[runtime][time]") {
  CHECK(iso("1970-01-01T00:00:00Z") == 0);
  CHECK(iso("2018-02-03T17:00:00Z") == 1'517'677'200'000);
  CHECK(iso("2018-02-03 17:00:00.25Z") == 1'517'677'200'250);
  CHECK(iso("2018-02-03T18:30:00+01:30") == 1'517'677'200'000);
  CHECK(iso("2018-02-03T12:00:00-05:00") == 1'517'677'200'000);
  CHECK(iso("2000-02-29T00:00:00Z") == 951'782'400'000);
  CHECK(iso("0001-01-01T00:00:00Z") == earliest_event_time.ms);
  CHECK(iso("9999-12-31T23:59:59.999Z") == latest_event_time.ms);
}

TEST_CASE("what is no such text is no time", "[runtime][time]") {
  for (const auto* const text : {"",
                                 "2018",
                                 "2018-02-03",
                                 "2018-02-03T17:00:00",
                                 "2018-02-03T17:00Z",
                                 "2018-2-3T17:00:00Z",
                                 "2018-02-30T17:00:00Z",
                                 "1900-02-29T00:00:00Z",
                                 "2018-13-01T00:00:00Z",
                                 "2018-00-01T00:00:00Z",
                                 "2018-02-00T00:00:00Z",
                                 "2018-02-03T24:00:00Z",
                                 "2018-02-03T17:60:00Z",
                                 "2018-02-03T17:00:60Z",
                                 "2018-02-03T17:00:00.Z",
                                 "2018-02-03T17:00:00+1:00",
                                 "2018-02-03T17:00:00+24:00",
                                 "2018-02-03T17:00:00+01:60",
                                 "2018-02-03T17:00:00Zulu",
                                 " 2018-02-03T17:00:00Z",
                                 "2018-02-03T17:00:00Z ",
                                 "2018-02-03t17:00:00z",
                                 "-018-02-03T17:00:00Z",
                                 "2018-02-03T17:00:00,5Z"}) {
    CAPTURE(text);
    CHECK_FALSE(iso(text));
  }
}
