#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <signal.h>

#include "small_job.hpp"

// A job that has a past, and a world that does not fit it any more. Going on could lose or repeat
// rows, so the tool refuses by name; and when the world is put right again, the job goes on.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::StartsWith;

namespace {

constexpr int long_input = 600;

void check_refusal(const SmallJob& job, const std::string& name, const std::string& what) {
  const auto rows = job.rows();
  const ToolEnd end = job.run();
  INFO(end.output);
  CHECK(end.exit_code == 7);
  CHECK_THAT(end.errors, StartsWith(fmt::format("millrace: refused ({}): {}\n  ", name, what)));
  CHECK(job.rows() == rows);
}

void check_goes_on(const SmallJob& job) {
  const ToolEnd end = job.run();
  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

/// The files of a job's newest checkpoint.
struct Objects {
  std::string staged;
  std::string manifest;
  std::string state;
};

/// Kills a job inside the transaction that would have shown the rows of its newest checkpoint: they
/// are decided, and in no table yet. The next checkpoint is far off, so nothing newer is there.
Objects die_with_rows_unpublished(const SmallJob& job) {
  const ToolEnd end = job.run({"--rate", SmallJob::slow_rate, "--set", "checkpoint.interval=400ms"},
                              killed_at("publish_sent nth=2"));
  REQUIRE(end.signal == SIGKILL);
  Objects newest;
  newest.manifest = job.newest("state/manifest");
  const std::string checkpoint = std::filesystem::path(newest.manifest).filename();
  newest.staged = job.newest("state/staged", checkpoint + "-");
  newest.state = job.newest("state/state", checkpoint + "-");
  return newest;
}

}  // namespace

TEST_CASE("changed input is refused, and the job goes on when it is put back", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  const std::string text = job.read(SmallJob::a);

  job.write(SmallJob::a, "{\"KEY\"" + text.substr(6));
  check_refusal(job, "input_changed", "partition a.jsonl begins with other bytes now");
  job.write(SmallJob::a, text.substr(0, 3000));
  check_refusal(job, "input_changed",
                fmt::format("partition a.jsonl has 3000 bytes now and had {}", text.size()));
  std::filesystem::remove(job.path(SmallJob::a));
  check_refusal(job, "input_changed", "partition a.jsonl is not there any more");
  job.write(SmallJob::a, text);

  check_goes_on(job);
}

TEST_CASE("input that has grown is noted and not read, and so are new files", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  const auto expected = job.expected_rows();
  const std::string more = record("new", 999'999);
  job.write(SmallJob::a, job.read(SmallJob::a) + more);
  job.write("in/c.jsonl", more);

  const ToolEnd end = job.run();

  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output,
             Contains(fmt::format("note: partition a.jsonl has grown by {} bytes, which are not "
                                  "read: a job reads what was there when it began\n",
                                  more.size())));
  CHECK_THAT(end.output, Contains("note: partition c.jsonl is new and not read: a job reads what "
                                  "was there when it began\n"));
  CHECK(job.rows() == expected);
}

TEST_CASE("a changed job is refused, and goes on when the change is undone", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  const std::string text = job.read(SmallJob::file);
  struct Change {
    std::string from;
    std::string to;
    std::string said;
  };
  const std::vector<Change> changes{
      {"count()", "count(value)",
       "`aggregate` is `n = count(value), total = sum(value)` now and was `n = count(), total = "
       "sum(value)`"},
      {R"(tumbling = "1s")", R"(tumbling = "2s")", "`window.tumbling` is `2s` now and was `1s`"},
      {"key != 'nobody'", "key != 'x'", "`filter 1` is `key != 'x'` now and was `key != 'nobody'`"},
      {R"(disorder = "1s")", R"(disorder = "2s")", "`source.disorder` is `2s` now and was `1s`"},
      {R"(files = "in/*.jsonl")", R"(files = "in/a.jsonl")",
       "`source.files` is `in/a.jsonl` now and was `in/*.jsonl`"},
      {R"("float64?")", R"("float64")",
       "`source.fields` is `key = string, at = int64, value = float64` now and was `key = string, "
       "at = int64, value = float64?`"},
      {R"(on_bad_record = "fail")", R"(on_bad_record = "skip")",
       "`source.on_bad_record` is `skip` now and was `fail`"},
      {R"(table = "t")", R"(table = "u")", "`sink.table` is `u` now and was `t`"},
      {R"(key = ["key", "window_start"])", R"(key = ["key"])",
       "`sink.key` is `key` now and was `key, window_start`"},
  };
  for (const Change& change : changes) {
    job.replace(SmallJob::file, change.from, change.to);
    INFO(change.to);
    check_refusal(job, "job_changed", change.said + " when the state was written");
    job.write(SmallJob::file, text);
  }

  // What is no part of the job may change: how many tasks do it, and how often it is safe.
  job.replace(SmallJob::file, "parallelism = 2", "parallelism = 3");
  job.replace(SmallJob::file, "50ms", "80ms");
  check_goes_on(job);
}

TEST_CASE("an emptied database is refused, and the job goes on when it is restored", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  const auto rows = job.rows();
  std::filesystem::rename(job.path("out.db"), job.path("kept.db"));
  for (const char* name : {"out.db-wal", "out.db-shm"}) std::filesystem::remove(job.path(name));

  const ToolEnd end = job.run();
  CHECK(end.exit_code == 7);
  CHECK_THAT(end.errors, StartsWith("millrace: refused (marker_missing): table `t` "
                                    "in out.db: the job is at checkpoint 1."));
  CHECK(job.rows().empty());

  for (const char* name : {"out.db-wal", "out.db-shm"}) std::filesystem::remove(job.path(name));
  std::filesystem::rename(job.path("kept.db"), job.path("out.db"));
  CHECK(job.rows() == rows);  // Ended in order, a run leaves all rows in the file itself.
  check_goes_on(job);
}

TEST_CASE("a state directory that is older than the table is refused", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  std::filesystem::copy(job.path("state"), job.path("older"),
                        std::filesystem::copy_options::recursive);
  REQUIRE(job.run().exit_code == 0);
  const auto rows = job.rows();
  std::filesystem::rename(job.path("state"), job.path("newer"));
  std::filesystem::rename(job.path("older"), job.path("state"));

  const ToolEnd end = job.run();

  CHECK(end.exit_code == 7);
  CHECK_THAT(end.errors, StartsWith("millrace: refused (sink_ahead): "));
  CHECK(job.rows() == rows);
}

TEST_CASE("a table of another history is refused, and goes on with --adopt", "[tool]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  const auto rows = job.rows();
  const Tool::Words elsewhere{"--set", "checkpoint.directory=elsewhere"};

  const ToolEnd end = job.run(elsewhere);
  CHECK(end.exit_code == 7);
  CHECK_THAT(end.errors, StartsWith("millrace: refused (sink_foreign): table `t` in "
                                    "out.db: the state is of lineage "));
  CHECK(job.rows() == rows);

  Tool::Words adopting = elsewhere;
  adopting.emplace_back("--adopt");
  CHECK(job.run(adopting).exit_code == 0);
  CHECK(job.rows().size() == 2 * rows.size());
}

TEST_CASE("a table with rows that nobody answers for is refused", "[tool]") {
  const SmallJob job;
  job.execute(
      "CREATE TABLE t (key TEXT NOT NULL, window_start INTEGER NOT NULL, window_end INTEGER NOT "
      "NULL, n INTEGER NOT NULL, total REAL)");
  job.execute("INSERT INTO t VALUES ('z', 0, 1000, 1, 1.0)");

  const ToolEnd end = job.run();

  CHECK(end.exit_code == 7);
  CHECK_THAT(end.errors, StartsWith("millrace: refused (sink_occupied): "));
  CHECK(job.rows() == std::vector<std::string>{"z 0 1000 1 1"});
}

TEST_CASE("a damaged object of the state is refused and never passed over", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  const auto [staged, manifest, state] = die_with_rows_unpublished(job);
  const std::string head = "state/head";

  for (const std::string& name : {staged, manifest, state, head}) {
    const std::string bytes = job.read(name);
    std::string damaged = bytes;
    damaged[30] = static_cast<char>(damaged[30] ^ 1);
    for (const std::string& wrong : {damaged, bytes.substr(0, bytes.size() - 3), std::string()}) {
      job.write(name, wrong);
      const auto rows = job.rows();
      const ToolEnd end = job.run();
      INFO(name << " with " << wrong.size() << " of " << bytes.size() << " bytes");
      CHECK(end.exit_code == 7);
      CHECK_THAT(end.errors, StartsWith("millrace: refused (state_unreadable): "));
      CHECK_THAT(end.errors, Contains(name.substr(std::string("state/").size()) + ": "));
      if (name != state) CHECK(job.rows() == rows);
      // A refused run has taken the job over, so what it says of the head is newer.
      if (name != head) CHECK(job.read(name) == wrong);
      job.write(name, bytes);
    }
  }

  check_goes_on(job);
}

TEST_CASE("a lost object of the state is refused and never passed over", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  const auto [staged, manifest, state] = die_with_rows_unpublished(job);
  struct Loss {
    std::string name;
    std::string refusal;
    std::string said;
  };
  const std::vector<Loss> losses{
      {staged, "staged_rows_missing", "table `t` in out.db: staged/"},
      {manifest, "state_unreadable", "manifest/"},
      {state, "state_unreadable", "state/"},
      {"state/head", "sink_foreign", "table `t` in out.db: the state is of lineage "},
  };
  for (const Loss& loss : losses) {
    const std::string bytes = job.read(loss.name);
    std::filesystem::remove(job.path(loss.name));
    const ToolEnd end = job.run();
    INFO(loss.name << '\n' << end.output);
    CHECK(end.exit_code == 7);
    CHECK_THAT(end.errors,
               StartsWith(fmt::format("millrace: refused ({}): {}", loss.refusal, loss.said)));
    job.write(loss.name, bytes);
  }

  check_goes_on(job);
}
