#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

using Rows = std::vector<std::string>;

Reference reference_of(const std::string& text, const SmallJob& job = {}) {
  return Reference(spec_of(job), Input{{{"p.jsonl", text, ""}}});
}

/// What the reference says of a bad line, without its place.
std::string why_bad(const std::string& line) {
  const std::string complaint = complaint_of([&] { reference_of(line + "\n"); });
  const std::string place = "p.jsonl:1: ";
  return complaint.starts_with(place) ? complaint.substr(place.size()) : complaint;
}

const std::string good = R"({"k": "a", "t": 5})";

}  // namespace

TEST_CASE("lines may end in any of the usual ways", "[properties][input]") {
  const Rows expected{"k=a, window_start=0, window_end=1000, n=2"};

  CHECK(rows_of(reference_of(good + "\n" + good + "\n")) == expected);
  CHECK(rows_of(reference_of(good + "\n" + good)) == expected);
  CHECK(rows_of(reference_of(good + "\r\n" + good + "\r\n")) == expected);
  CHECK(rows_of(reference_of(good + "\r\n" + good)) == expected);
  CHECK(rows_of(reference_of(good + "\n" + good + "\r")) == expected);
}

TEST_CASE("blank lines and a byte order mark are passed over", "[properties][input]") {
  const Rows expected{"k=a, window_start=0, window_end=1000, n=2"};

  CHECK(rows_of(reference_of("\n\n" + good + "\n \t \n\r\n" + good + "\n\n\n")) == expected);
  CHECK(rows_of(reference_of("\xEF\xBB\xBF" + good + "\n" + good)) == expected);
  CHECK(rows_of(reference_of("\xEF\xBB\xBF\n" + good + "\n" + good)) == expected);
  CHECK(rows_of(reference_of("  " + good + "\t\n" + good)) == expected);
  CHECK(reference_of("").rows().empty());
  CHECK(reference_of("\xEF\xBB\xBF").rows().empty());
  CHECK(reference_of("\n").records() == 0);
}

TEST_CASE("a claim counts the bytes of line ends and marks", "[properties][input]") {
  const std::string late = R"({"k": "a", "t": 1000})";
  const std::string text = "\xEF\xBB\xBF\r\n" + good + "\r\n\n" + late + "\r\n";
  const Reference reference = reference_of(text);
  const auto size = static_cast<std::int64_t>(text.size());

  CHECK(reference.visible_rows({{"p.jsonl", size, false}}) == 1);
  CHECK(reference.visible_rows({{"p.jsonl", size - 1, false}}) == 0);
  const Reference without_end = reference_of(text.substr(0, text.size() - 2));
  CHECK(without_end.visible_rows({{"p.jsonl", size - 2, false}}) == 1);
  CHECK(without_end.visible_rows({{"p.jsonl", size - 3, false}}) == 0);
}

TEST_CASE("fields may stand in any order, and others are ignored", "[properties][input]") {
  SmallJob job;
  job.aggregate = R"-(n = "count()", i = "sum(i)", r = "sum(r)")-";

  CHECK(rows_of(reference_of(
            R"({"zone": {"k": "inner", "t": [1, {"i": 2}]}, "r": 0.5, "t": 5, "list": [[], {}, 7],)"
            R"( "i": 3, "flag": true, "k": "a", "nothing": null, "other": "x", "half": 0.5})",
            job)) == Rows{"k=a, window_start=0, window_end=1000, n=1, i=3, r=0.5"});
  // Escapes in names and values are what they stand for.
  CHECK(rows_of(reference_of(R"({"\u006b": "\u0061\n", "t": 5})")) ==
        Rows{"k=a\n, window_start=0, window_end=1000, n=1"});
}

TEST_CASE("a bad record is told with its file, its line and the reason", "[properties][input]") {
  const std::string bad = R"({"k": "a"})";

  CHECK(complaint_of([&] { reference_of(bad); }) == "p.jsonl:1: t is missing");
  CHECK(complaint_of([&] { reference_of(good + "\n\n\r\n" + bad + "\n" + good); }) ==
        "p.jsonl:4: t is missing");
  const Input two{{partition_of("a.jsonl", {good}), partition_of("b.jsonl", {good, bad})}};
  CHECK(complaint_of([&] { Reference(spec_of(SmallJob{}), two); }) == "b.jsonl:2: t is missing");
}

TEST_CASE("what makes a record bad is said", "[properties][input]") {
  const std::vector<std::pair<std::string, std::string>> bad{
      {R"({"t": 5})", "k is missing"},
      {R"({"k": "a"})", "t is missing"},
      {R"({})", "k is missing"},
      {R"({"k": null, "t": 5})", "k is null"},
      {R"({"k": "a", "t": null})", "t is null"},
      {R"({"k": 5, "t": 5})", "k is an integer"},
      {R"({"k": 0.5, "t": 5})", "k is a fraction"},
      {R"({"k": true, "t": 5})", "k is a boolean"},
      {R"({"k": {}, "t": 5})", "k is an object"},
      {R"({"k": [], "t": 5})", "k is an array"},
      {R"({"k": "a", "t": "5"})", "t is a string"},
      {R"({"k": "a", "t": 5.0})", "t is a fraction"},
      {R"({"k": "a", "t": 5e0})", "t is a fraction"},
      {R"({"k": "a", "t": 5, "i": 9223372036854775808})", "i is an integer beyond int64"},
      {R"({"k": "a", "t": 5, "i": "x"})", "i is a string"},
      {R"({"k": "a", "t": 5, "r": "x"})", "r is a string"},
      {R"({"k": "a", "t": 5, "r": false})", "r is a boolean"},
      {R"({"k": "a", "t": 5, "r": 123456789012345678901234567890})", "an integer beyond 64 bits"},
      {R"({"k": "a", "t": 5, "other": -9223372036854775809})", "an integer beyond 64 bits"},
      {R"({"k": "a", "t": 5, "k": "a"})", "k stands there twice"},
      {R"({"k": "a", "t": 5, "i": null, "i": null})", "i stands there twice"},
      {R"([])", "an array and no object"},
      {R"([{"k": "a", "t": 5}])", "an array and no object"},
      {R"(5)", "no object"},
      {R"("k")", "no object"},
      {R"(null)", "no object"},
      {R"(true)", "no object"},
      {R"({"k": "a", "t": 253402300800000})", "the time 253402300800000 is out of range"},
      {R"({"k": "a", "t": -62135596800001})", "the time -62135596800001 is out of range"},
  };
  for (const auto& [line, why] : bad) {
    CAPTURE(line);
    CHECK(why_bad(line) == why);
  }
  CHECK(why_bad(R"({"k": "a", "t": 253402300799999})").empty());
  CHECK(why_bad(R"({"k": "a", "t": -62135596800000})").empty());
}

TEST_CASE("what is no JSON is a bad record", "[properties][input]") {
  for (const std::string line :
       {"{", "}", "{\"k\": \"a\", \"t\": 5", "{\"k\": \"a\", \"t\": 5} x",
        "{\"k\": \"a\" \"t\": 5}", "{\"k\": \"a\", \"t\": 5,}", "{'k': 'a', 't': 5}",
        "{\"k\": \"a\", \"t\": 05}", "{\"k\": \"a\", \"t\": NaN}", "{\"k\": \"a\", \"t\": 1e400}",
        "{\"k\": \"a\", \"t\": 5, \"other\": 1e400}", "{\"k\": \"\xFF\", \"t\": 5}",
        "{\"k\": \"a\tb\", \"t\": 5}", "{\"k\": \"\\ud800\", \"t\": 5}", "nothing",
        "{\"k\": \"a\", \"t\": 5}{\"k\": \"a\", \"t\": 5}"}) {
    CAPTURE(line);
    CHECK(why_bad(line).find("json.exception") != std::string::npos);
  }
}

TEST_CASE("a job that skips bad records counts the others", "[properties][input]") {
  SmallJob job;
  job.on_bad_record = "skip";
  const std::string text = "{\n" + good + "\n" + R"({"k": "a"})" + "\n\n" + good + "\nx";
  const Reference reference = reference_of(text, job);

  CHECK(reference.records() == 2);
  CHECK(rows_of(reference) == Rows{"k=a, window_start=0, window_end=1000, n=2"});
  CHECK(complaint_of([&] { reference_of(text); }).starts_with("p.jsonl:1: "));
}

TEST_CASE("the same window of several partitions is one", "[properties][input]") {
  const Input input{{partition_of("a.jsonl", {record("a", 1), record("b", 2)}),
                     partition_of("b.jsonl", {record("a", 3)})}};
  const Reference reference(spec_of(SmallJob{}), input);

  CHECK(rows_of(reference) == Rows{"k=a, window_start=0, window_end=1000, n=2",
                                   "k=b, window_start=0, window_end=1000, n=1"});
  CHECK(reference.records() == 3);
}
