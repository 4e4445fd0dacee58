#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <signal.h>

#include "millrace/sqlite/database.hpp"

#include "small_job.hpp"

// `millrace doctor`: what it finds in a world that fits a job, and in worlds that do not.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

constexpr const char* nothing_to_repair = "\nnothing to repair";

ToolEnd doctor(const SmallJob& job, const Tool::Words& more = {}) {
  Tool::Words words{"doctor", SmallJob::file};
  words.insert(words.end(), more.begin(), more.end());
  return job.tool(words);
}

/// Every file below the job's directory, with its size.
std::vector<std::string> files_of(const SmallJob& job) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(job.path(""))) {
    files.push_back(entry.path().string() + (entry.is_regular_file()
                                                 ? " " + std::to_string(entry.file_size())
                                                 : std::string()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("the doctor finds a new job fit and leaves nothing behind", "[tool][doctor]") {
  const SmallJob job;
  const auto files = files_of(job);

  const ToolEnd end = doctor(job);

  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, StartsWith("ok    state directory state, to be made in .: write "));
  CHECK_THAT(end.output, Contains("\nok    a lock there keeps other processes out\n"));
  CHECK_THAT(end.output, Contains("\nok    input: 2 partitions of 98 bytes\n"));
  CHECK_THAT(end.output, Contains("\nok    database out.db: not there yet; one made there keeps "
                                  "its commits durable\n"));
  CHECK_THAT(end.output, Contains("\nok    table `t` in out.db is made by the first run\n"));
  CHECK(files_of(job) == files);
}

TEST_CASE("the doctor finds a job fit that is run, and names who runs it", "[tool][doctor]") {
  const SmallJob job;
  job.write_long_input(600);
  Tool run = job.start({"--rate", SmallJob::slow_rate});
  REQUIRE(wait_until(run, [&] { return !job.rows().empty(); }));

  const ToolEnd end = doctor(job);

  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("\nok    the job is run by process " +
                                  std::to_string(run.process()) + " on "));
  CHECK_THAT(end.output, Contains("\nok    head and manifest can be read: term 1, checkpoint 1."));
  CHECK_THAT(end.output,
             Contains("\nok    database out.db: a commit is durable (write-ahead log "));
  CHECK_THAT(end.output, Contains("\nok    table `t` in out.db shows checkpoint 1."));
  run.send(SIGINT);
  CHECK(run.wait().exit_code == 130);
  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
  CHECK_THAT(doctor(job).output, Contains(", finished\n") && Contains(nothing_to_repair));
}

TEST_CASE("the doctor says what memory keeps", "[tool][doctor]") {
  const ToolEnd end = doctor(SmallJob(), {"--set", "checkpoint.directory=/dev/shm/no-state"});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("\nwarn  the state directory lies on /dev/shm, of type tmpfs: "
                                  "what is there is gone with the power\n"));
}

TEST_CASE("the doctor finds places that cannot be written", "[tool][doctor]") {
  const SmallJob job;
  job.write("state", "no directory");
  const ToolEnd state = doctor(job);
  CHECK(state.exit_code == 7);
  CHECK_THAT(state.output, StartsWith("fail  state directory state: cannot create state/doctor~1: "
                                      "Not a directory\n"));

  std::filesystem::remove(job.path("state"));
  const ToolEnd database = doctor(job, {"--set", "sink.database=nowhere/out.db"});
  CHECK(database.exit_code == 7);
  CHECK_THAT(database.output, Contains("\nfail  database `nowhere/out.db"));
  CHECK_THAT(database.output, EndsWith("\n1 to repair: a run would fail, or its "
                                       "promises would not hold\n"));
}

TEST_CASE("the doctor finds a database that somebody holds", "[tool][doctor]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  Database database(job.path("out.db"), "", Database::Access::write);
  const Transaction transaction(database, Transaction::Kind::write);

  const ToolEnd end = doctor(job);

  CHECK(end.exit_code == 7);
  CHECK_THAT(end.output, Contains("\nfail  database `out.db`: database is locked"));
}

TEST_CASE("the doctor finds a reader that keeps the log from being emptied", "[tool][doctor]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  Database reading(job.path("out.db"), "", Database::Access::read);
  const Transaction transaction(reading, Transaction::Kind::read);
  Statement rows(reading, "SELECT * FROM t");
  REQUIRE(rows.step());
  job.execute("CREATE TABLE another (a INTEGER)");

  const ToolEnd end = doctor(job);

  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("\nwarn  database out.db: "));
  CHECK_THAT(end.output, Contains(" a reader is in the way"));
}

TEST_CASE("the doctor finds what a run would refuse, and a run refuses it", "[tool][doctor]") {
  const SmallJob job;
  job.write_long_input(600);
  REQUIRE(job.run_in_part().exit_code == 130);
  CHECK_THAT(doctor(job).output, Contains(nothing_to_repair));
  const auto check_found = [&](const std::string& refusal) {
    INFO(refusal);
    const ToolEnd found = doctor(job);
    INFO(found.output);
    CHECK(found.exit_code == 7);
    CHECK_THAT(found.output, Contains("\nfail  a run would be refused (" + refusal + "): "));
    CHECK_THAT(job.run().errors, StartsWith("millrace: refused (" + refusal + "): "));
  };

  const std::string text = job.read(SmallJob::file);
  job.replace(SmallJob::file, R"(disorder = "1s")", R"(disorder = "2s")");
  check_found("job_changed");
  job.write(SmallJob::file, text);

  const std::string input = job.read(SmallJob::b);
  job.write(SmallJob::b, "");
  check_found("input_changed");
  job.write(SmallJob::b, input);

  const std::string head = job.read("state/head");
  job.write("state/head", head + "x");
  check_found("state_unreadable");
  job.write("state/head", head);

  const std::string state = job.newest("state/state");
  const std::string bytes = job.read(state);
  std::filesystem::remove(job.path(state));
  check_found("state_unreadable");
  job.write(state, bytes);

  std::filesystem::rename(job.path("out.db"), job.path("kept.db"));
  for (const char* name : {"out.db-wal", "out.db-shm"}) std::filesystem::remove(job.path(name));
  check_found("marker_missing");
  for (const char* name : {"out.db-wal", "out.db-shm"}) std::filesystem::remove(job.path(name));
  std::filesystem::rename(job.path("kept.db"), job.path("out.db"));

  std::filesystem::rename(job.path("state"), job.path("kept"));
  check_found("sink_foreign");
  std::filesystem::remove_all(job.path("state"));
  std::filesystem::rename(job.path("kept"), job.path("state"));

  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("the doctor tells of input that came too late for a job", "[tool][doctor]") {
  const SmallJob job;
  job.write_long_input(600);
  REQUIRE(job.run_in_part().exit_code == 130);
  job.write(SmallJob::b, job.read(SmallJob::b) + record("b", 90'000));

  const ToolEnd end = doctor(job);

  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("\nwarn  33 bytes of it came after the job had begun, and are "
                                  "not read\n"));
}
