#include <algorithm>

#include <catch2/catch.hpp>

#include "small_job.hpp"

// Lines that are no records. Each is refused by file, line and field, and no row is guessed.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

struct BadLine {
  std::string line;
  std::string said;  ///< Behind the place of the line; the rest is the JSON library's own words.
};

const std::vector<BadLine>& bad_lines() {
  static const std::vector<BadLine> lines{
      {R"({"key":"a","at":1000)", "this is not JSON: "},
      {"garbage", "this is not JSON: "},
      {R"({"key":"\ud800","at":1})", "this is not JSON: "},
      {R"({"key":"a","at":1000,"value":1e999})", "this is not JSON: "},
      {R"({"key":"a","at":99999999999999999999999})", "this is not JSON: "},
      {"{\"key\":\"\xff\",\"at\":5}", "this is not JSON: The input is not valid UTF-8\n"},
      {"[1]", "a JSON object is expected, not an array\n"},
      {R"({"key":1,"at":1000})", "the field `key` is an integer; a string is expected\n"},
      {R"({"key":"a"})", "the field `at` is missing; an int64 is expected\n"},
      {R"({"key":"a","at":null})", "the field `at` is null; an int64 is expected\n"},
      {R"({"key":"a","at":"x"})", "the field `at` is a string; an int64 is expected\n"},
      {R"({"key":"a","at":1.5})", "the field `at` is a fraction; an int64 is expected\n"},
      {R"({"key":"a","at":99999999999999999})",
       "the field `at` is 99999999999999999; a time in the years 1 to 9999 is expected, in ms "
       "since 1970\n"},
      {R"({"key":"a","at":1,"key":"b"})", "the field `key` stands there twice\n"},
  };
  return lines;
}

/// A good line of exactly `size` bytes.
std::string line_of(std::size_t size) {
  const std::string front = R"({"key":")";
  const std::string back = R"(","at":1500,"value":3})";
  return front + std::string(size - front.size() - back.size(), 'x') + back;
}

constexpr std::size_t longest = std::size_t{1} << 20;

}  // namespace

TEST_CASE("a bad record ends a run by its place, and shows no row", "[tool]") {
  for (const BadLine& bad : bad_lines()) {
    const SmallJob job;
    job.write(SmallJob::b, job.read(SmallJob::b) + bad.line + "\n");

    const ToolEnd end = job.run();

    INFO(bad.line);
    CHECK(end.exit_code == 8);
    CHECK_THAT(end.errors, StartsWith("millrace: the job failed: b.jsonl:2: " + bad.said));
    CHECK_THAT(end.errors, EndsWith("\n"));
    CHECK(job.rows().empty());
    CHECK(job.run().exit_code == 8);  // And it stays bad.
  }
}

TEST_CASE("the simulator finds the same records bad as a run", "[tool]") {
  for (const BadLine& bad : bad_lines()) {
    const SmallJob job;
    job.write(SmallJob::b, job.read(SmallJob::b) + bad.line + "\n");

    const ToolEnd end = job.tool({"test", SmallJob::file, "--seeds", "2"});

    INFO(bad.line);
    CHECK(end.exit_code == 2);
    CHECK_THAT(end.errors, StartsWith("millrace: b.jsonl:2: "));
  }
}

TEST_CASE("bad records are skipped and counted when the job says so", "[tool]") {
  const SmallJob job;
  std::string text = job.read(SmallJob::b);
  for (const BadLine& bad : bad_lines()) text += bad.line + "\n";
  job.write(SmallJob::b, text);
  job.replace(SmallJob::file, R"(on_bad_record = "fail")", R"(on_bad_record = "skip")");

  const ToolEnd end = job.run();

  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, EndsWith("\n  14 bad records were skipped\n"));
  CHECK(job.rows() == std::vector<std::string>{"a 1000 2000 2 4.5", "b 2000 3000 1 2"});
}

TEST_CASE("a line may have a mebibyte and not a byte more", "[tool]") {
  const SmallJob fits;
  fits.write(SmallJob::b, line_of(longest) + "\r\n");
  CHECK(fits.run().exit_code == 0);
  CHECK(fits.rows() == fits.expected_rows());

  const SmallJob too_long;
  too_long.write(SmallJob::b, record("a", 1500) + line_of(longest + 1) + "\n");
  const ToolEnd end = too_long.run();
  CHECK(end.exit_code == 8);
  CHECK(end.errors ==
        "millrace: the job failed: b.jsonl:2: the line is longer than 1048576 "
        "bytes\n");
  CHECK(too_long.rows().empty());
}

TEST_CASE("a bad record amid a job keeps what was visible, and the job goes on when it is repaired",
          "[tool]") {
  const SmallJob job;
  job.write_long_input(1000);
  const std::string good = job.read(SmallJob::a);
  std::string bad = good;
  bad[bad.rfind("\"at\"")] = '!';  // Far behind the bytes by which a file is known again.
  job.write(SmallJob::a, bad);
  REQUIRE(job.run_in_part().exit_code == 130);
  const auto in_part = job.rows();

  const ToolEnd end = job.run();

  CHECK(end.exit_code == 8);
  CHECK_THAT(end.errors, StartsWith("millrace: the job failed: a.jsonl:1000: this is not JSON: "));
  const auto kept = job.rows();
  CHECK(std::includes(kept.begin(), kept.end(), in_part.begin(), in_part.end()));
  job.write(SmallJob::a, good);
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}
