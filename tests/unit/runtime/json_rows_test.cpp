#include "millrace/runtime/source/json_rows.hpp"

#include <bit>

#include <catch2/catch.hpp>

#include "damage.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

constexpr std::uint32_t time_field = 0;
constexpr std::uint32_t number = 1;
constexpr std::uint32_t text = 2;

WrittenRows description(OnBadRecord on_bad_record = OnBadRecord::fail) {
  return {"log",
          {{"t", FieldType::integer, false},
           {"x", FieldType::real, true},
           {"s", FieldType::text, true}},
          {time_field},
          on_bad_record};
}

/// A reader of one partition, with all that it refers to.
struct OpenPartition {
  explicit OpenPartition(std::string content, WrittenRows rows = description(), Position from = {})
      : source(json_rows(std::move(rows))) {
    const auto end = static_cast<std::int64_t>(content.size());
    world.log.partitions_by_name["quakes.jsonl"] = std::move(content);
    reader = source.open(env, "quakes.jsonl", from, end);
  }

  FakeWorld world;
  Env env = world.env();
  Source<Row> source;
  std::unique_ptr<SourceReader<Row>> reader;
};

/// The one row of a record.
Row row_of(const std::string& record, WrittenRows rows = description()) {
  OpenPartition partition(record, std::move(rows));
  const auto reading = partition.reader->next(10);
  REQUIRE(reading.rows.size() == 1);
  return reading.rows[0];
}

/// Why a record cannot be read.
std::string complaint(const std::string& record, WrittenRows rows = description()) {
  OpenPartition partition(record, std::move(rows));
  return message_of<JobFailed>([&] { partition.reader->next(10); });
}

using Then = Reading<Row>::Then;

}  // namespace

TEST_CASE("fields of every type are read, and others are passed over", "[runtime][json_rows]") {
  const Row row = row_of(
      R"({"other": [1, {"t": 5}], "t": 7, "x": 2.5, "more": null, "s": "river", "y": false})");

  CHECK(row.fields() == 3);
  CHECK(row.integer(time_field) == 7);
  CHECK(row.real(number) == 2.5);
  CHECK(row.text(text) == "river");
}

TEST_CASE("the order of the fields in a record does not matter", "[runtime][json_rows]") {
  const Row row = row_of(R"({"t": 7, "x": 2.5, "s": "river"})");

  CHECK(row_of(R"({"s": "river", "x": 2.5, "t": 7})") == row);
  CHECK(row_of(R"({"x": 2.5, "t": 7, "s": "river"})") == row);
  CHECK(row_of(R"({"x": 2.5, "s": "river", "a": 1, "t": 7, "b": 2})") == row);
}

TEST_CASE("a field that may be null is null when it is null or missing", "[runtime][json_rows]") {
  const Row row = row_of(R"({"t": 7, "x": null})");

  CHECK(row.has(time_field));
  CHECK_FALSE(row.has(number));
  CHECK_FALSE(row.has(text));
  CHECK(row_of(R"({"t": 7})") == row);
  CHECK(row_of(R"({"t": 7, "s": ""})").has(text));  // Empty is not null.
}

TEST_CASE("numbers are read to the last bit", "[runtime][json_rows]") {
  WrittenRows rows{"log",
                   {{"n", FieldType::integer, false},
                    {"x", FieldType::real, true},
                    {"t", FieldType::integer, false}},
                   {2},
                   OnBadRecord::fail};
  const auto integer = [&](const std::string& written) {
    return row_of(R"({"t": 0, "n": )" + written + "}", rows).integer(0);
  };
  const auto real = [&](const std::string& written) {
    return row_of(R"({"t": 0, "n": 0, "x": )" + written + "}", rows).real(1);
  };

  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  CHECK(integer("9007199254740993") == 9007199254740993);
  CHECK(integer("-0") == 0);
  CHECK(real("0.1") == 0.1);
  CHECK(real("5") == 5.0);
  CHECK(real("-9223372036854775808") == -0x1p+63);
  CHECK(real("18446744073709551615") == 0x1p+64);
  CHECK(real("1.7976931348623157e308") == 0x1.fffffffffffffp+1023);
  CHECK(real("4.9406564584124654e-324") == 0x0.0000000000001p-1022);
  CHECK(real("9007199254740993") == 0x1p+53);
}

TEST_CASE("minus zero is zero", "[runtime][json_rows]") {
  for (const auto* const written : {"-0.0", "-0", "-0e5", "-1e-400"}) {
    CAPTURE(written);
    const Row row = row_of(std::string(R"({"t": 1, "x": )") + written + "}");
    CHECK(std::bit_cast<std::uint64_t>(row.real(number)) == 0);
  }
}

TEST_CASE("texts and names of fields are unescaped", "[runtime][json_rows]") {
  const auto read = [](const std::string& written) {
    return std::string(row_of(R"({"t": 1, "s": ")" + written + R"("})").text(text));
  };

  CHECK(read("gr\xC3\xB6\xC3\x9F"
             "e") == "größe");
  CHECK(read(R"(gr\u00f6\u00dfe)") == "größe");
  CHECK(read(R"(\ud83c\udf0a)") == "\xF0\x9F\x8C\x8A");
  CHECK(read(R"(a\"b\\c\/d\ne)") == "a\"b\\c/d\ne");
  CHECK(read(R"(a\u0000b)") == std::string("a\0b", 3));
  CHECK(row_of(R"({"\u0074": 7})").integer(time_field) == 7);
}

TEST_CASE("what is no JSON object is bad", "[runtime][json_rows]") {
  const std::string place = "quakes.jsonl:1: ";
  const std::string not_json = place + "this is not JSON: ";
  CHECK(complaint("[1]") == place + "a JSON object is expected, not an array");
  CHECK(complaint("7") == place + "a JSON object is expected, not an integer");
  CHECK(complaint("7.5") == place + "a JSON object is expected, not a fraction");
  CHECK(complaint("null") == place + "a JSON object is expected, not null");
  CHECK(complaint("true") == place + "a JSON object is expected, not a boolean");
  CHECK(complaint(R"("x")") == place + "a JSON object is expected, not a string");
  for (const auto* const record : {" ", "{", R"({"t": 1,})", R"({t: 1})", R"({"t": 01})",
                                   R"({"t": 1}{"t": 2})", R"({"t": 1} x)", R"({"t": 1, "x": NaN})",
                                   R"({"t": 1, "x": 1e400})", "{\"t\": 1, \"s\": \"\xFF\"}",
                                   R"({"t": 1, "s": "\ud800"})", "{\"t\": 1, \"s\": \"a\tb\"}"}) {
    CAPTURE(record);
    CHECK(complaint(record).find(not_json) == 0);
  }
}

TEST_CASE("a field of another type is bad, and said to be what it is", "[runtime][json_rows]") {
  const auto time = [](const std::string& value) { return complaint(R"({"t": )" + value + "}"); };
  const std::string begin = "quakes.jsonl:1: the field `t` is ";
  const std::string end = "; an int64 is expected";
  CHECK(time("1.0") == begin + "a fraction" + end);
  CHECK(time("9223372036854775808") == begin + "an integer beyond int64" + end);
  CHECK(time(R"("1")") == begin + "a string" + end);
  CHECK(time("true") == begin + "a boolean" + end);
  CHECK(time("[]") == begin + "an array" + end);
  CHECK(time("{}") == begin + "an object" + end);
  CHECK(complaint(R"({"t": 1, "x": "5"})") ==
        "quakes.jsonl:1: the field `x` is a string; a number is expected");
  CHECK(complaint(R"({"t": 1, "s": 5})") ==
        "quakes.jsonl:1: the field `s` is an integer; a string is expected");
}

TEST_CASE("a field that is missing or null, and may not be, is bad", "[runtime][json_rows]") {
  CHECK(complaint("{}") == "quakes.jsonl:1: the field `t` is missing; an int64 is expected");
  CHECK(complaint(R"({"t": null})") ==
        "quakes.jsonl:1: the field `t` is null; an int64 is expected");
}

TEST_CASE("a declared field that stands there twice is bad, and another is not",
          "[runtime][json_rows]") {
  CHECK(complaint(R"({"t": 1, "x": 2, "t": 1})") ==
        "quakes.jsonl:1: the field `t` stands there twice");
  CHECK(complaint(R"({"t": 1, "x": null, "x": null})") ==
        "quakes.jsonl:1: the field `x` stands there twice");
  CHECK(complaint(R"({"t": 1, "y": 2, "y": 3})").empty());
}

TEST_CASE("an event time is in the years 1 to 9999", "[runtime][json_rows]") {
  const auto time = [](std::int64_t ms) {
    return complaint(R"({"t": )" + std::to_string(ms) + "}");
  };
  CHECK(time(earliest_event_time.ms).empty());
  CHECK(time(latest_event_time.ms).empty());
  CHECK(time(latest_event_time.ms + 1) ==
        "quakes.jsonl:1: the field `t` is 253402300800000; a time in the years 1 to 9999 is "
        "expected, in ms since 1970");
  CHECK(time(earliest_event_time.ms - 1).find("the field `t` is -62135596800001;") !=
        std::string::npos);
}

TEST_CASE("a bad record is named by its partition and line", "[runtime][json_rows]") {
  CHECK(complaint("{\"t\": 1}\n{\"t\": 2}\n{}\n{\"t\": 4}\n") ==
        "quakes.jsonl:3: the field `t` is missing; an int64 is expected");
}

TEST_CASE("bad records are skipped and counted if the job says so", "[runtime][json_rows]") {
  OpenPartition partition("{}\n{\"t\": 2}\nx\n[]\n{\"t\": 5}\n{\"t\": null}\n",
                          description(OnBadRecord::skip));
  const auto reading = partition.reader->next(10);

  REQUIRE(reading.rows.size() == 2);
  CHECK(reading.rows[0].integer(time_field) == 2);
  CHECK(reading.rows[1].integer(time_field) == 5);
  CHECK(partition.reader->skipped() == 4);
  CHECK(partition.reader->position() == Position{38, 7});  // Behind the last, although it is bad.
}

TEST_CASE("a partition of nothing but bad records is read to its end", "[runtime][json_rows]") {
  OpenPartition partition("{}\n{}\n{}\n", description(OnBadRecord::skip));

  const auto reading = partition.reader->next(10);

  CHECK(reading.rows.empty());
  CHECK(reading.then == Then::end);
  CHECK(partition.reader->skipped() == 3);
}

TEST_CASE("a reading gives at most as many rows as it is asked for", "[runtime][json_rows]") {
  OpenPartition partition("{\"t\": 1}\n{\"t\": 2}\n{}\n{\"t\": 4}\n",
                          description(OnBadRecord::skip));
  SourceReader<Row>& reader = *partition.reader;

  CHECK(reader.position() == Position{0, 1});
  CHECK(reader.next(1).rows.size() == 1);
  CHECK(reader.position() == Position{9, 2});
  const auto reading = reader.next(2);  // Bad ones do not count.
  REQUIRE(reading.rows.size() == 2);
  CHECK(reading.rows[1].integer(time_field) == 4);
  CHECK(reading.then == Then::more);  // The end is noticed when there is nothing more to give.
  CHECK(reader.next(2).then == Then::end);
}

TEST_CASE("reading goes on where another has stopped", "[runtime][json_rows]") {
  const std::string content = "{\"t\": 1}\n{}\n{\"t\": 3}\n";
  OpenPartition first(content, description(OnBadRecord::skip));
  first.reader->next(1);

  OpenPartition second(content, description(OnBadRecord::skip), first.reader->position());
  const auto reading = second.reader->next(10);

  REQUIRE(reading.rows.size() == 1);
  CHECK(reading.rows[0].integer(time_field) == 3);
  CHECK(second.reader->skipped() == 1);  // Its own, not those before.
  CHECK(second.reader->position() == Position{static_cast<std::int64_t>(content.size()), 4});
}

TEST_CASE("rows do not depend on how many entries a log gives at once", "[runtime][json_rows]") {
  std::string content;
  for (int i = 0; i < 50; ++i) {
    content += i % 7 == 3 ? "bad\n"
                          : R"({"t": )" + std::to_string(i) +
                                R"(, "s": "x"})"
                                "\n";
  }
  std::vector<std::vector<std::int64_t>> all;
  for (const std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    FakeWorld world;
    world.log.partitions_by_name["p"] = content;
    world.log.most_per_read = most;
    Env env = world.env();
    const auto source = json_rows(description(OnBadRecord::skip));
    const auto reader = source.open(env, "p", {}, static_cast<std::int64_t>(content.size()));
    auto& times = all.emplace_back();
    for (auto reading = reader->next(8); reading.then == Then::more; reading = reader->next(8)) {
      for (const Row& row : reading.rows) times.push_back(row.integer(time_field));
    }
    CHECK(reader->skipped() == 7);
  }
  CHECK(all[0].size() == 43);
  CHECK(all[1] == all[0]);
  CHECK(all[2] == all[0]);
}
