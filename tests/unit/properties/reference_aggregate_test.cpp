#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// What the columns `aggregate` show for records of one key and one window, one per text of `more`.
std::string folded(const std::string& aggregate, const std::vector<std::string>& more) {
  SmallJob job;
  job.aggregate = aggregate;
  std::vector<std::string> lines;
  for (const std::string& fields : more) lines.push_back(record("a", 0, fields));
  const auto rows = rows_of(job, lines);
  const std::string key = "k=a, window_start=0, window_end=1000, ";
  if (rows.size() != 1 || !rows[0].starts_with(key)) return "not one row";
  return rows[0].substr(key.size());
}

std::vector<std::string> values_of(const std::string& field,
                                   const std::vector<std::string>& values) {
  std::vector<std::string> more;
  for (const std::string& value : values) more.push_back("\"" + field + "\": " + value);
  return more;
}

/// The fold of a field's values, as text.
std::string fold(const std::string& name, const std::string& field,
                 const std::vector<std::string>& values) {
  const std::string shown = folded("x = \"" + name + "(" + field + ")\"", values_of(field, values));
  return shown.starts_with("x=") ? shown.substr(2) : shown;
}

const std::string greatest = "9223372036854775807";
const std::string least = "-9223372036854775808";

}  // namespace

TEST_CASE("the reference counts rows, and values that are not null", "[properties][reference]") {
  const std::string counts = R"-(all = "count()", i = "count(i)", r = "count(r)", s = "count(s)")-";

  CHECK(folded(counts, {R"("i": 1, "r": 0.5, "s": "x")", R"("i": null)", "", R"("s": "")"}) ==
        "all=4, i=1, r=1, s=2");
  CHECK(folded(counts, {"", ""}) == "all=2, i=0, r=0, s=0");
}

TEST_CASE("a fold of no values is null in the reference", "[properties][reference]") {
  for (const std::string field : {"i", "r"}) {
    for (const std::string name : {"sum", "min", "max", "avg"}) {
      CAPTURE(field, name);
      CHECK(fold(name, field, {"null", "null"}) == "NULL");
      CHECK(fold(name, field, {"null", "3", "null"}) == "3");
    }
  }
}

TEST_CASE("the reference sums whole numbers exactly, whatever their order",
          "[properties][reference]") {
  CHECK(fold("sum", "i", {"1", "2", "-7"}) == "-4");
  // Partial sums are beyond int64, the sum is not.
  CHECK(fold("sum", "i", {greatest, greatest, least, least, "2"}) == "0");
  CHECK(fold("sum", "i", {greatest, "1", "-1"}) == greatest);
  CHECK(fold("sum", "i", {least, "-1", "1"}) == least);
  CHECK(fold("sum", "i", {greatest, "0"}) == greatest);
}

TEST_CASE("a sum beyond int64 cannot be shown", "[properties][reference]") {
  const std::string complaint = "a sum of this input does not fit into int64";

  CHECK(complaint_of([] { fold("sum", "i", {greatest, "1"}); }) == complaint);
  CHECK(complaint_of([] { fold("sum", "i", {least, "-1"}); }) == complaint);
  CHECK(complaint_of([] { fold("avg", "i", {greatest, "1"}); }).empty());
}

TEST_CASE("the reference sums fractions exactly and rounds once", "[properties][reference]") {
  CHECK(fold("sum", "r", {"0.5", "0.25", "-1"}) == "-0.25");
  CHECK(fold("sum", "r", {"1e16", "1", "1", "-1e16"}) == "2");
  CHECK(fold("sum", "r", {"1e308", "1e308", "-1e308"}) == "1e+308");
  CHECK(fold("sum", "r", {"1e308", "5e-324", "-1e308"}) == "5e-324");
  // Ten times 0.1 is not ten times a tenth, and a little more than 1; added one by one in doubles
  // it would be less.
  CHECK(fold("sum", "r", std::vector<std::string>(10, "0.1")) == "1");
  CHECK(fold("sum", "r", {"0.1", "0.2"}) == "0.30000000000000004");
  CHECK(fold("sum", "r", {"9007199254740992", "1", "1"}) == "9007199254740994");
  CHECK(fold("sum", "r", {"-0.0", "-0.0"}) == "0");
  CHECK(fold("sum", "r", {"1", "-1"}) == "0");
}

TEST_CASE("a sum beyond float64 cannot be shown", "[properties][reference]") {
  const std::string complaint = "a sum of this input does not fit into float64";

  CHECK(complaint_of([] { fold("sum", "r", {"1.7e308", "1.7e308"}); }) == complaint);
  CHECK(complaint_of([] { fold("sum", "r", {"-1.7e308", "-1.7e308"}); }) == complaint);
}

TEST_CASE("the reference's mean is rounded once", "[properties][reference]") {
  CHECK(fold("avg", "i", {"1", "2"}) == "1.5");
  CHECK(fold("avg", "i", {"1", "1", "2"}) == "1.3333333333333333");
  CHECK(fold("avg", "i", {"-1", "-1", "-2"}) == "-1.3333333333333333");
  CHECK(fold("avg", "i", {"1", "null", "3"}) == "2");
  CHECK(fold("avg", "i", {greatest, greatest}) == "9.223372036854776e+18");
  // The sum would be rounded to 2^53 + 2 before it is divided.
  CHECK(fold("avg", "i", {"9007199254740993", "9007199254740993", "9007199254740990"}) ==
        "9007199254740992");
  CHECK(fold("avg", "r", {"1e308", "1e308"}) == "1e+308");
  CHECK(fold("avg", "r", {"5e-324", "0"}) == "0");
  CHECK(fold("avg", "r", {"5e-324", "5e-324", "0"}) == "5e-324");
  // The sum alone would be rounded up to 0.6000000000000001.
  CHECK(fold("avg", "r", {"0.1", "0.2", "0.3"}) == "0.2");
}

TEST_CASE("the reference finds the smallest and the largest value", "[properties][reference]") {
  CHECK(fold("min", "i", {"3", "-1", "2"}) == "-1");
  CHECK(fold("max", "i", {"3", "-1", "2"}) == "3");
  CHECK(fold("min", "i", {greatest, least, "0"}) == least);
  CHECK(fold("max", "i", {least, greatest, "0"}) == greatest);
  // Whole numbers that one double would hold.
  CHECK(fold("max", "i", {"9007199254740992", "9007199254740993"}) == "9007199254740993");
  CHECK(fold("min", "r", {"2.5", "1", "1e-7"}) == "1e-07");
  CHECK(fold("max", "r", {"2.5", "1", "1e2"}) == "100");
  CHECK(fold("min", "r", {"-1e308", "1e308"}) == "-1e+308");
  CHECK(fold("max", "r", {"-2.5", "null", "-3"}) == "-2.5");
}

TEST_CASE("there is one zero", "[properties][reference]") {
  for (const std::string name : {"min", "max", "sum", "avg"}) {
    CAPTURE(name);
    CHECK(fold(name, "r", {"-0.0"}) == "0");
    CHECK(fold(name, "r", {"-0.0", "0.0"}) == "0");
    CHECK(fold(name, "r", {"0", "-0.0"}) == "0");
    CHECK(fold(name, "r", {"-0"}) == "0");
    CHECK(fold(name, "r", {"-1e-400"}) == "0");
    CHECK(fold(name, "i", {"-0", "0"}) == "0");
  }
}

TEST_CASE("a whole number in a field of fractions is the nearest double",
          "[properties][reference]") {
  CHECK(fold("max", "r", {"9007199254740993"}) == "9007199254740992");
  CHECK(fold("max", "r", {"18446744073709551615"}) == "1.8446744073709552e+19");
  CHECK(fold("min", "r", {least}) == "-9.223372036854776e+18");
}

TEST_CASE("the columns of an aggregate stand in the order of the job", "[properties][reference]") {
  CHECK(folded(R"-(z = "max(i)", b = "min(i)", a = "count()", y = "avg(r)")-",
               {R"("i": 1, "r": 1)", R"("i": 5, "r": 2)"}) == "z=5, b=1, a=2, y=1.5");
}

TEST_CASE("every key and every window has folds of its own", "[properties][reference]") {
  SmallJob job;
  job.aggregate = R"-(n = "count()", total = "sum(i)")-";
  job.disorder = "1h";

  CHECK(rows_of(job, {record("a", 10, R"("i": 1)"), record("b", 20, R"("i": 2)"),
                      record("a", 1500, R"("i": 4)"), record("a", 30, R"("i": 8)"),
                      record("b", 999, R"("i": 16)")}) ==
        std::vector<std::string>{"k=a, window_start=0, window_end=1000, n=2, total=9",
                                 "k=b, window_start=0, window_end=1000, n=2, total=18",
                                 "k=a, window_start=1000, window_end=2000, n=1, total=4"});
}

TEST_CASE("keys are of several fields, whole numbers and texts, and may be null",
          "[properties][reference]") {
  SmallJob job;
  job.key = R"("i", "s")";
  job.sink_key = R"("i", "s", "window_start")";

  const auto rows = rows_of(
      job, {record("x", 0, R"("i": 1, "s": "p")"), record("x", 0, R"("i": 1)"),
            record("y", 0, R"("s": "p")"), record("y", 0), record("x", 0, R"("i": 1, "s": "")"),
            record("x", 0, R"("i": 1, "s": "p")"), record("x", 0, R"("i": null, "s": null)")});

  CHECK(rows == std::vector<std::string>{"i=NULL, s=NULL, window_start=0, window_end=1000, n=2",
                                         "i=NULL, s=p, window_start=0, window_end=1000, n=1",
                                         "i=1, s=NULL, window_start=0, window_end=1000, n=1",
                                         "i=1, s=, window_start=0, window_end=1000, n=1",
                                         "i=1, s=p, window_start=0, window_end=1000, n=2"});
}
