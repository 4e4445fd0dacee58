#include "millrace/runtime/source/csv_rows.hpp"

#include <bit>

#include <catch2/catch.hpp>

#include "damage.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

constexpr std::uint32_t time_field = 0;
constexpr std::uint32_t number = 1;
constexpr std::uint32_t text = 2;
constexpr std::uint32_t name = 3;

WrittenRows description(OnBadRecord on_bad_record = OnBadRecord::fail) {
  return {"log",
          {{"t", FieldType::integer, false},
           {"x", FieldType::real, true},
           {"s", FieldType::text, true},
           {"n", FieldType::text, false}},
          {time_field},
          on_bad_record};
}

/// A reader of one partition, with all that it refers to.
struct OpenPartition {
  explicit OpenPartition(std::string content, WrittenRows rows = description(), Position from = {},
                         std::size_t most_per_read = 1'000)
      : source(csv_rows(std::move(rows))) {
    const auto end = static_cast<std::int64_t>(content.size());
    world.log.most_per_read = most_per_read;
    world.log.partitions_by_name["quakes.csv"] = std::move(content);
    reader = source.open(env, "quakes.csv", from, end);
  }

  FakeWorld world;
  Env env = world.env();
  Source<Row> source;
  std::unique_ptr<SourceReader<Row>> reader;
};

const std::string header = "t,x,s,n\n";

/// The one row of a record.
Row row_of(const std::string& record, const std::string& first_line = header) {
  OpenPartition partition(first_line + record);
  const auto reading = partition.reader->next(10);
  REQUIRE(reading.rows.size() == 1);
  return reading.rows[0];
}

/// Why a partition cannot be read.
std::string complaint_of_all(const std::string& content, OnBadRecord on_bad_record) {
  OpenPartition partition(content, description(on_bad_record));
  return message_of<JobFailed>([&] { partition.reader->next(10); });
}
std::string complaint(const std::string& record) {
  return complaint_of_all(header + record, OnBadRecord::fail);
}

using Then = Reading<Row>::Then;

}  // namespace

TEST_CASE("cells of every type are read", "[runtime][csv_rows]") {
  const Row row = row_of("7,2.5,river,Aare\n");

  CHECK(row.fields() == 4);
  CHECK(row.integer(time_field) == 7);
  CHECK(row.real(number) == 2.5);
  CHECK(row.text(text) == "river");
  CHECK(row.text(name) == "Aare");
}

TEST_CASE("columns stand in any order, and others are passed over", "[runtime][csv_rows]") {
  const Row row = row_of("7,2.5,river,Aare");

  CHECK(row_of("Aare,river,2.5,7", "n,s,x,t\n") == row);
  CHECK(row_of("1,Aare,what?,river,2.5,7,", "a,n,b,s,x,t,c\n") == row);
  CHECK(row_of("7,2.5,river,Aare", "\"t\",x,\"s\",n\n") == row);
}

TEST_CASE("an empty cell is null if it may be, and a quoted one never", "[runtime][csv_rows]") {
  const Row row = row_of("7,,,");

  CHECK_FALSE(row.has(number));
  CHECK_FALSE(row.has(text));
  CHECK(row.text(name).empty());
  CHECK(row_of(R"(7,,"","")").has(text));
}

TEST_CASE("quotes hold commas, blanks and quotes", "[runtime][csv_rows]") {
  CHECK(row_of(R"(7,,"a, b",n)").text(text) == "a, b");
  CHECK(row_of(R"(7,,"say ""no""",n)").text(text) == R"(say "no")");
  CHECK(row_of(R"(7,,"""","")").text(text) == "\"");
  CHECK(row_of(R"(7,,"",n)").text(text).empty());
  CHECK(row_of(R"("7","2.5"," a ","n")").text(text) == " a ");
  CHECK(row_of("7,, a b ,n").text(text) == " a b ");
  // Several cells that had quotes in them do not disturb each other.
  const Row both = row_of(R"(7,,"a ""long"" text that needs a place of its own","""n""")");
  CHECK(both.text(text) == R"(a "long" text that needs a place of its own)");
  CHECK(both.text(name) == R"("n")");
}

TEST_CASE("numbers of cells are read to the last bit", "[runtime][csv_rows]") {
  const auto integer = [](const std::string& written) {
    return row_of(written + ",,,").integer(time_field);
  };
  const auto real = [](const std::string& written) {
    return row_of("7," + written + ",,").real(number);
  };

  CHECK(integer("253402300799999") == 253402300799999);
  CHECK(integer("-5") == -5);
  CHECK(integer("-0") == 0);
  CHECK(integer("007") == 7);
  CHECK(real("0.1") == 0.1);
  CHECK(real("5") == 5.0);
  CHECK(real("1e3") == 1000);
  CHECK(real("2.5E-1") == 0.25);
  CHECK(real("1.7976931348623157e308") == 0x1.fffffffffffffp+1023);
  CHECK(real("4.9406564584124654e-324") == 0x0.0000000000001p-1022);
  CHECK(std::bit_cast<std::uint64_t>(real("-0.0")) == 0);
}

TEST_CASE("a bad line is told with its place, and what was expected", "[runtime][csv_rows]") {
  const std::string at = "quakes.csv:2: ";
  CHECK(complaint("7,,,,") == at + "5 cells; 4 are expected, as in the first line");
  CHECK(complaint("7") == at + "1 cells; 4 are expected, as in the first line");
  CHECK(complaint("soon,,,") == at + "the field `t` is `soon`; an int64 is expected");
  CHECK(complaint(",,,") == at + "the field `t` is empty; an int64 is expected");
  CHECK(complaint("7,x,,") == at + "the field `x` is `x`; a number is expected");
  CHECK(complaint("99999999999999999,,,") ==
        at + "the field `t` is 99999999999999999; a time in the years 1 to 9999 is expected, in ms "
             "since 1970");
  CHECK(complaint("7,,\"a,b") == at + "the quoted cell 3 does not end in its line; a record is a "
                                      "line, and no cell holds a line break");
  CHECK(complaint("7,,\"a\"b,") ==
        at + "the quoted cell 3 goes on behind its quotes; a quote inside of it is written twice");
  CHECK(complaint("7,,a\"b,") ==
        at + "a quote stands inside of the cell 3, which does not begin with one");
  for (const auto* const written :
       {"1.", ".5", "+1", "1e", "nan", "inf", "0x1p3", "1e309", "1e-400", " 1", "1 ", "1_000"}) {
    CAPTURE(written);
    CHECK(complaint("7," + std::string(written) + ",,").find(at + "the field `x` is ") == 0);
  }
  for (const auto* const written : {"1.0", "1e0", "+1", " 1", "9223372036854775808", "-", "--1"}) {
    CAPTURE(written);
    CHECK(complaint(std::string(written) + ",,,").find(at + "the field `t` is ") == 0);
  }
}

TEST_CASE("bad lines can be passed over, and are counted", "[runtime][csv_rows]") {
  OpenPartition partition(header + "1,,,\n2,,\n3,,,\n4,y,,\n", description(OnBadRecord::skip));

  CHECK(partition.reader->next(10).rows.size() == 2);
  CHECK(partition.reader->skipped() == 2);
  CHECK(partition.reader->next(10).then == Then::end);
}

TEST_CASE("a first line that lacks a field ends the job, whatever is said of bad records",
          "[runtime][csv_rows]") {
  for (const OnBadRecord what : {OnBadRecord::fail, OnBadRecord::skip}) {
    CHECK(complaint_of_all("t,s,n\n1,,\n", what) ==
          "quakes.csv:1: there is no column `x`; the first line names t, s, n");
    CHECK(complaint_of_all("t,x,s,n,x\n", what) ==
          "quakes.csv:1: the column `x` stands there twice");
    CHECK(complaint_of_all("t,x,\"s,n\n", what).find("quakes.csv:1: the quoted cell 3 ") == 0);
  }
  OpenPartition twice("t,x,s,n,more,more\n1,,,,,\n");  // Nobody asks for those.
  CHECK(twice.reader->next(10).rows.size() == 1);
}

TEST_CASE("a partition of the first line alone, or of nothing, has no rows",
          "[runtime][csv_rows]") {
  for (const std::string& content : {std::string(), header}) {
    OpenPartition partition(content);
    CHECK(partition.reader->next(10).rows.empty());
    CHECK(partition.reader->next(10).then == Then::end);
  }
}

TEST_CASE("reading goes on behind any row, and knows the columns again", "[runtime][csv_rows]") {
  const std::string content = "n,s,x,t\n,,,1\n,,,2\n,,,3\n";
  for (std::size_t most = 1; most <= 3; ++most) {
    OpenPartition first(content);
    first.reader->next(most);
    OpenPartition second(content, description(), first.reader->position(), most);
    std::vector<std::int64_t> times;
    for (auto read = second.reader->next(9); read.then != Then::end;
         read = second.reader->next(9)) {
      for (const Row& row : read.rows) times.push_back(row.integer(time_field));
    }
    CAPTURE(most);
    CHECK(times.size() == 3 - most);
    CHECK((times.empty() || times.front() == static_cast<std::int64_t>(most) + 1));
  }
}

TEST_CASE("a checkpoint before the first reading keeps the position", "[runtime][csv_rows]") {
  const std::string content = "t,x,s,n\n1,,,\n2,,,\n";
  OpenPartition partition(content, description(), {13, 3});

  CHECK(partition.reader->position() == Position{13, 3});
  const auto reading = partition.reader->next(9);
  REQUIRE(reading.rows.size() == 1);
  CHECK(reading.rows[0].integer(time_field) == 2);
  CHECK(partition.reader->position() == Position{18, 4});
}
