#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <signal.h>

#include "millrace/sqlite/table_reader.hpp"

#include "small_job.hpp"

// A job for real, from its first start to its last row.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using Rows = std::vector<std::string>;

namespace {

constexpr int long_input = 1500;

/// Rows of two histories in one table.
Rows twice(const Rows& rows) {
  Rows all;
  for (const std::string& row : rows) all.insert(all.end(), {row, row});
  return all;
}

}  // namespace

TEST_CASE("a run reads all input, shows its rows, and says so", "[tool]") {
  const SmallJob job;

  const ToolEnd end = job.run();

  CHECK(end.exit_code == 0);
  CHECK(end.errors.empty());
  CHECK_THAT(end.output, Contains("s: 3 records read, all rows visible in table t in out.db\n"
                                  "  rows were visible at most "));
  CHECK_THAT(end.output, EndsWith(" s after their records were read\n"));
  CHECK(job.rows() == Rows{"a 1000 2000 2 4.5", "b 2000 3000 1 2"});
}

TEST_CASE("a second run of a finished job says so and changes nothing", "[tool]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  const Rows rows = job.rows();

  const ToolEnd again = job.run();

  CHECK(again.exit_code == 0);
  CHECK(again.output == "this job is finished: all rows are visible in table t in out.db\n");
  CHECK(job.rows() == rows);
}

TEST_CASE("a limited rate changes no row", "[tool]") {
  const SmallJob job;
  job.write_long_input(100);
  CHECK(job.run({"--rate", "400"}).exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("a source that keeps to a rate is not idle meanwhile", "[tool]") {
  const SmallJob job;
  std::string ahead;
  std::string behind;
  for (int i = 0; i < 15; ++i) {
    ahead += record("a", 20'000 + i * 1'000);
    behind += record("b", i * 1'000);  // Late, if nobody waits for it.
  }
  job.write(SmallJob::a, ahead);
  job.write(SmallJob::b, behind);
  job.replace(SmallJob::file, "disorder", "idle_after = \"10ms\"\ndisorder");

  CHECK(job.run({"--rate", "25", "--set", "job.parallelism=1"}).exit_code == 0);

  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("a job restarts as often as it was told, and then fails", "[tool]") {
  const SmallJob job;
  std::filesystem::create_directory(job.path("state"));
  job.write("state/state", "in the way of every snapshot");
  for (const std::string attempts : {"0", "2"}) {
    const ToolEnd end = job.run({"--set", "restart.attempts=" + attempts, "--set",
                                 "restart.delay=1ms", "--set", "checkpoint.tolerable_failures=0"});
    INFO(end.output << end.errors);
    CHECK(end.exit_code == 8);
    CHECK_THAT(end.errors, StartsWith("millrace: the job failed: gave up after " + attempts +
                                      " restarts without a completed checkpoint; "));
  }
  std::filesystem::remove(job.path("state/state"));
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("settings replace what the job file says", "[tool]") {
  const SmallJob job;
  const ToolEnd end = job.run({"--set", "checkpoint.directory=elsewhere", "--set", "sink.table=u",
                               "--set", "job.parallelism=3"});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("visible in table u in out.db\n"));
  CHECK(job.has("elsewhere/head"));
  CHECK_FALSE(job.has("state"));
}

TEST_CASE("the log of a run tells its protocol from the takeover to the end", "[tool]") {
  const SmallJob job;
  REQUIRE(job.run({"--log", "run.log"}).exit_code == 0);
  const std::string log = job.read("run.log");
  for (const char* landmark :
       {" took_over term=1 ", " sink_staged term=1 n=1 ", " head_swapped term=1 n=1",
        " published term=1 n=1", " job_finished term=1 "}) {
    CHECK_THAT(log, Contains(landmark));
  }
  CHECK(log.find(" took_over ") < log.find(" job_finished "));
}

TEST_CASE("a log that cannot be written is the user's mistake", "[tool]") {
  const SmallJob job;
  const ToolEnd end = job.run({"--log", "nowhere/run.log"});
  CHECK(end.exit_code == 2);
  CHECK(end.errors ==
        "millrace: cannot write the log nowhere/run.log: No such file or directory\n");
  CHECK(job.rows().empty());
}

TEST_CASE("an anchor that cannot be read is the user's mistake", "[tool]") {
  const SmallJob job;
  const ToolEnd end = job.run({}, killed_at("took_over phase=1"));
  CHECK(end.exit_code == 2);
  CHECK(end.errors ==
        "millrace: `phase=1` in an anchor: expected role=, term=, n=, subtask=, retry=, life= or "
        "nth=\n");
  CHECK(job.run({}, killed_at("tok_over")).errors ==
        "millrace: MILLRACE_KILL_AT: there is no landmark `tok_over`; `millrace landmarks` lists "
        "them\n");
  CHECK(job.run({}, killed_at("took_over nth=0")).errors ==
        "millrace: `nth=0` in an anchor: counting begins at 1\n");
  CHECK(job.rows().empty());
}

TEST_CASE("one Ctrl-C ends a run behind a checkpoint, and the next run goes on", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);

  const ToolEnd end = job.run_in_part();

  CHECK(end.exit_code == 130);
  CHECK_THAT(end.output, Contains("stopping behind one more checkpoint; once more to stop at "
                                  "once\n"));
  CHECK_THAT(end.output, Contains("\nstopped at checkpoint 1."));
  const Rows in_part = job.rows();
  CHECK(in_part.size() < job.expected_rows().size());
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("two signals end a run at once, and the next run goes on", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  Tool tool = job.start({"--rate", SmallJob::slow_rate});
  REQUIRE(wait_until(tool, [&] { return !job.rows().empty(); }));

  // Both are there before it looks.
  tool.send(SIGSTOP);
  tool.send(SIGINT);
  tool.send(SIGTERM);
  tool.send(SIGCONT);
  const ToolEnd end = tool.wait();

  CHECK(end.exit_code == 130);
  CHECK_THAT(end.output, !Contains("stopped at checkpoint"));
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("a new history over the rows of an old one is refused, and nothing is lost", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  const Rows in_part = job.rows();

  const ToolEnd fresh = job.run({"--fresh"});

  CHECK(fresh.exit_code == 7);
  CHECK(fresh.errors ==
        fmt::format("millrace: refused (sink_occupied): table `t` in out.db has {} rows\n"
                    "  A new job found rows that it did not write. Name another table, empty this "
                    "one, or take\n  the rows over with --adopt.\n",
                    in_part.size()));
  CHECK(job.rows() == in_part);
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("an adopted table keeps its rows, and a new history adds its own", "[tool]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  const Rows rows = job.rows();

  CHECK(job.run({"--fresh", "--adopt"}).exit_code == 0);

  CHECK(job.rows() == twice(rows));
}

TEST_CASE("a new history over an emptied table shows each row once", "[tool]") {
  const SmallJob job;
  job.write_long_input(100);
  REQUIRE(job.run().exit_code == 0);
  for (const char* name : {"out.db", "out.db-wal", "out.db-shm"}) {
    std::remove(job.path(name).c_str());
  }

  CHECK(job.run({"--fresh"}).exit_code == 0);

  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("a job that runs already is refused, and is not disturbed", "[tool]") {
  const SmallJob job;
  job.write_long_input(long_input);
  Tool first = job.start({"--rate", SmallJob::slow_rate});
  REQUIRE(wait_until(first, [&] { return !job.rows().empty(); }));

  const ToolEnd second = job.run();

  CHECK(second.exit_code == 7);
  CHECK_THAT(second.errors,
             StartsWith(fmt::format("millrace: refused (already_owned): state belongs to process "
                                    "{} on ",
                                    first.process())));
  CHECK_THAT(second.errors, EndsWith("\n  Two processes on one job would undo each other's work. "
                                     "Wait for the other, or end it.\n"));
  first.send(SIGINT);
  CHECK(first.wait().exit_code == 130);
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("the jobs of the corpus show as many rows as an independent count found", "[tool]") {
  struct Sample {
    std::string job;
    std::string table;
    std::uint64_t rows;
  };
  const SmallJob directory;
  for (const Sample& sample :
       {Sample{"quakes", "quakes_per_hour", 850}, Sample{"quakes_feed", "feed_per_hour", 189}}) {
    const ToolEnd end =
        directory.tool({"run", MILLRACE_ROOT "/corpus/jobs/" + sample.job + ".toml"});
    INFO(end.errors);
    CHECK(end.exit_code == 0);
    CHECK_THAT(end.output, Contains(fmt::format("s: 1707 records read, all rows visible in table "
                                                "{} in quakes.db\n",
                                                sample.table)));
    const TableLook look = TableReader(directory.path("quakes.db"), "", sample.table)
                               .look([](std::int64_t, std::span<const Cell>) {});
    CHECK(look.rows == sample.rows);
  }
}

TEST_CASE("a row that the table does not take ends the job by name", "[tool]") {
  const SmallJob job;
  job.write(SmallJob::b, record("a", 1500) + record("a", 9500));

  const ToolEnd end = job.run({"--set", "sink.key=[\"key\"]", "--set", "sink.unique=true"});

  CHECK(end.exit_code == 8);
  CHECK(end.errors ==
        "millrace: the job failed: database `out.db`: UNIQUE constraint failed: "
        "t.key (SQLite code 2067)\n");
  CHECK(job.rows().empty());  // Its neighbours came in the same transaction.
}

TEST_CASE("a sum that does not fit ends the job by name", "[tool]") {
  const SmallJob job;
  const std::string most = "9223372036854775807";
  job.write(SmallJob::a, record("a", 1000, most) + record("a", 1001, most));

  const ToolEnd end = job.run({"--set", "source.fields.value=int64?"});

  CHECK(end.exit_code == 8);
  CHECK_THAT(end.errors,
             StartsWith("millrace: the job failed: sum(value) does not fit into int64"));
  CHECK_THAT(end.errors, EndsWith(": sum(value) does not fit into int64\n"));
  CHECK(job.rows().empty());
}

TEST_CASE("files may be empty, all of them as well", "[tool]") {
  const SmallJob job;
  job.write(SmallJob::b, "");
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());

  const SmallJob empty;
  empty.write(SmallJob::a, "");
  empty.write(SmallJob::b, "");
  const ToolEnd end = empty.run();
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains(": 0 records read, "));
  CHECK(empty.rows().empty());
}

TEST_CASE("ends of lines may be missing at the end, be CRLF, or follow nothing", "[tool]") {
  const SmallJob job;
  job.write(SmallJob::a,
            "\xEF\xBB\xBF{\"key\":\"a\",\"at\":1000,\"value\":1.5}\r\n\r\n"
            "{\"key\":\"b\",\"at\":2000,\"value\":2}\r\n");
  job.write(SmallJob::b, "\n\n{\"key\":\"a\",\"at\":1500,\"value\":3}");
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == Rows{"a 1000 2000 2 4.5", "b 2000 3000 1 2"});
}
