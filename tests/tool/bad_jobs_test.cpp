#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "small_job.hpp"

// Job files that are wrong. Each is refused by line and key before anything is touched.

using namespace millrace;
using namespace millrace::tests;
using Catch::StartsWith;

namespace {

struct BadJob {
  std::string from;
  std::string to;
  std::string said;
};

const std::vector<BadJob>& bad_jobs() {
  static const std::vector<BadJob> jobs{
      {R"(name = "small")", R"(nam = "small")", "1: `job.name` is missing; a text is expected"},
      {R"(name = "small")", R"(name = 5)", "2: `job.name` is 5; a text in quotes is expected"},
      {R"(name = "small")", "name = \"small\"\ncolour = \"red\"",
       "3: `job.colour` is no key that there is; [job] has name, parallelism"},
      {"parallelism = 2", R"(parallelism = "x")",
       "3: `job.parallelism` is \"x\"; a whole number from 1 to 128 is expected"},
      {"parallelism = 2", "parallelism = 0",
       "3: `job.parallelism` is 0; a whole number from 1 to 128 is expected"},
      {"parallelism = 2", "parallelism = 129",
       "3: `job.parallelism` is 129; a whole number from 1 to 128 is expected"},
      {R"(format = "jsonl")", R"(format = "xml")",
       "6: `source.format` is \"xml\"; \"jsonl\" or \"csv\" is expected"},
      {R"(files = "in/*.jsonl")", "files = []",
       "7: `source.files` is a list; a text in quotes is expected"},
      {R"("float64?")", R"("decimal")",
       "8: `source.fields.value` is expected to be \"string\", \"int64\" or \"float64\", with `?` "
       "behind it if it may be null"},
      {R"(event_time = "at")", "", "5: `source.event_time` is missing; a text is expected"},
      {R"(event_time = "at")", R"(event_time = "when")",
       "9: `source.event_time`: there is no field `when`; the fields are key, at, value"},
      {R"(event_time = "at")", R"(event_time = "key")",
       "9: `source.event_time` is `key`, which is string; a field of type \"int64\" is expected"},
      {R"(disorder = "1s")", R"(disorder = "1 parsec")",
       "10: `source.disorder` is \"1 parsec\"; a span such as \"10s\", with ms, s, min, h or d is "
       "expected"},
      {R"(on_bad_record = "fail")", R"(on_bad_record = "cry")",
       "11: `source.on_bad_record` is \"cry\"; \"fail\" or \"skip\" is expected"},
      {R"(key != 'nobody')", R"(kay != 'nobody')", "14: `filter`: "},
      {R"(tumbling = "1s")", R"(tumbling = "0s")",
       "17: a window of no length: a span above 0 is expected"},
      {R"(tumbling = "1s")", R"(sliding = "1s", slide = "2s")",
       "17: `step.window.slide` is 2s; a span above 0 and at most `sliding`, which is 1s, is "
       "expected: windows leave no gaps"},
      {R"(tumbling = "1s")", R"(sessions = "100001d")",
       "17: `step.window.sessions` is \"100001d\"; a span such as \"10s\", with ms, s, min, h or d "
       "is expected"},
      {R"(key != 'nobody')", "key > at",
       "14: `filter`: a text in single quotes (`key` is a string) "},
      {R"(key = ["key"])", R"(key = ["nope"])",
       "17: `step.window.key`: there is no field `nope`; the fields are key, at, value"},
      {R"(key = ["key"])", R"(key = ["value"])",
       "17: `value` is a float64, which makes no key: equal numbers can be written differently"},
      {R"(key = ["key"])", "key = []", "17: a key of one field or more is expected"},
      {"\"sum(value)\"", "\"sum(valu)\"",
       "18: `step.aggregate.total`: there is no field `valu`; the fields are key, at, value"},
      {"\"sum(value)\"", "\"sum(key)\"",
       "18: `step.aggregate.total` is \"sum(key)\", and `key` is a string; a number is expected"},
      {"\"sum(value)\"", "\"median(value)\"",
       "18: `step.aggregate.total` is \"median(value)\"; count(), count(FIELD), "
       "count_distinct(FIELD), sum(FIELD), min(FIELD), max(FIELD) or avg(FIELD) is expected"},
      {"[sink]", "[snk]", "1: `sink` is missing; a table is expected"},
      {"[sink]", "[sinks]", "21: `sinks.table` is \"t\"; a table is expected"},
      {R"(table = "t")", "", "20: `sink.table` is missing; a text is expected"},
      {R"(database = "out.db")", R"(database = "")",
       "22: `sink.database` is \"\"; a text that is not empty is expected"},
      {R"(mode = "staged")", R"(mode = "magic")",
       "23: `sink.mode` is \"magic\"; \"staged\", \"upsert\" or \"insert\" is expected"},
      {R"(key = ["key", "window_start"])", R"(key = ["zzz"])",
       "24: the table has no column `zzz`; its columns are key, window_start, window_end, n, "
       "total"},
      {"unique = false", R"(unique = "no")",
       "25: `sink.unique` is \"no\"; true or false is "
       "expected"},
      {R"(directory = "state")", "directory = true",
       "28: `checkpoint.directory` is true; a text in quotes is expected"},
      {R"(interval = "50ms")", R"(interval = "-1s")",
       "29: `checkpoint.interval` is \"-1s\"; a span such as \"10s\", with ms, s, min, h or d is "
       "expected"},
      {R"(interval = "50ms")", R"(interval = "0s")",
       "29: `checkpoint.interval` is 0; a span above 0 is expected"},
      {R"(interval = "50ms")", R"(timeout = "soon")",
       "29: `checkpoint.timeout` is \"soon\"; a span such as \"10s\", with ms, s, min, h or d is "
       "expected"},
      {R"(interval = "50ms")", "[restart]\nstrategy = \"never\"",
       "30: `restart.strategy` is \"never\"; \"fixed\" or \"exponential\" is expected"},
      {R"(name = "small")", R"(name = "small)", "2: this is not TOML: "},
  };
  return jobs;
}

}  // namespace

TEST_CASE("a job file that is wrong is refused by line and key, and nothing is touched", "[tool]") {
  for (const BadJob& bad : bad_jobs()) {
    const SmallJob job;
    job.replace(SmallJob::file, bad.from, bad.to);
    for (const std::string command : {"run", "check", "test"}) {
      const ToolEnd end = job.tool({command, SmallJob::file});
      INFO(command << " with " << bad.to);
      CHECK(end.exit_code == 2);
      CHECK(end.output.empty());
      CHECK_THAT(end.errors, StartsWith("millrace: job.toml:" + bad.said));
      CHECK(std::count(end.errors.begin(), end.errors.end(), '\n') == 1);
    }
    CHECK_FALSE(job.has("state"));
    CHECK_FALSE(job.has("out.db"));
  }
}

TEST_CASE("input that is not there is the user's mistake", "[tool]") {
  const SmallJob no_match;
  no_match.replace(SmallJob::file, "in/*.jsonl", "nope/*.jsonl");
  for (const std::string command : {"run", "check", "test"}) {
    const ToolEnd end = no_match.tool({command, SmallJob::file});
    CHECK(end.exit_code == 2);
    CHECK(end.errors == "millrace: `nope/*.jsonl`: there is no file of such a name\n");
    CHECK_FALSE(no_match.has("state"));
  }

  const SmallJob no_file;
  no_file.replace(SmallJob::file, "in/*.jsonl", "in/none.jsonl");
  CHECK(no_file.run().errors == "millrace: `in/none.jsonl`: there is no such file\n");
  CHECK_FALSE(no_file.has("out.db"));
}

TEST_CASE("a directory in the place of an input file is the user's mistake", "[tool]") {
  const SmallJob job;
  job.replace(SmallJob::file, "in/*.jsonl", "in");
  const ToolEnd end = job.run();
  CHECK(end.exit_code == 2);
  CHECK_THAT(end.errors, StartsWith("millrace: `in` cannot be read: "));
  CHECK_FALSE(job.has("out.db"));
}

TEST_CASE("a table of another make is the user's mistake, and stays as it is", "[tool]") {
  const std::string place = "millrace: table `t` in database `out.db`: ";
  const SmallJob job;
  job.execute("CREATE TABLE t (x INTEGER)");
  job.execute("INSERT INTO t VALUES (5)");
  const ToolEnd end = job.run();
  CHECK(end.exit_code == 2);
  CHECK(end.errors == place + "column 1 is `x` INTEGER; expected `key` TEXT NOT NULL\n");
  CHECK(job.rows() == std::vector<std::string>{"5"});

  const SmallJob narrow;
  REQUIRE(narrow.run({"--set", "step.1.aggregate={ n = \"count()\" }"}).exit_code == 0);
  const auto rows = narrow.rows();
  const ToolEnd wide = narrow.run({"--set", "checkpoint.directory=elsewhere"});
  CHECK(wide.exit_code == 2);
  CHECK(wide.errors == place + "column 5 is missing; expected `total` REAL\n");
  CHECK(narrow.rows() == rows);
}

TEST_CASE("a database that is none is the user's mistake, and stays as it is", "[tool]") {
  const std::string junk = "hello, this is a long text of junk and no database at all\n";
  const SmallJob job;
  job.write("out.db", junk);
  const ToolEnd end = job.run();
  CHECK(end.exit_code == 2);
  CHECK(end.errors ==
        "millrace: database `out.db`: file is not a database (SQLite code 26); "
        "expected an SQLite database, or no file\n");
  CHECK(job.read("out.db") == junk);

  const std::string cannot_open =
      "unable to open database file (SQLite code 14); expected a file that can be opened in a "
      "directory that exists\n";
  const SmallJob directory;
  std::filesystem::create_directory(directory.path("out.db"));
  const ToolEnd no_file = directory.run();
  CHECK(no_file.exit_code == 2);
  CHECK(no_file.errors == "millrace: database `out.db`: " + cannot_open);

  const SmallJob nowhere;
  const ToolEnd lost = nowhere.run({"--set", "sink.database=nowhere/out.db"});
  CHECK(lost.exit_code == 2);
  CHECK(lost.errors == "millrace: database `nowhere/out.db`: " + cannot_open);
}

TEST_CASE("when the database can be opened at last, the job runs", "[tool]") {
  const SmallJob job;
  std::filesystem::create_directory(job.path("out.db"));
  REQUIRE(job.run().exit_code == 2);
  std::filesystem::remove(job.path("out.db"));
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}
