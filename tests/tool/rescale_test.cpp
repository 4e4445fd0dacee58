#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "small_job.hpp"

// A job goes on with another number of subtasks: its state is dealt out anew, and no row is lost,
// repeated or altered.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;

namespace {

constexpr int long_input = 900;

/// Runs the job slowly until it shows more rows than before, and stops it by Ctrl-C.
ToolEnd run_on(const SmallJob& job, Tool::Words words) {
  words.insert(words.end(), {"--rate", SmallJob::slow_rate});
  const std::size_t before = job.rows().size();
  Tool tool = job.start(words);
  wait_until(tool, [&] { return job.rows().size() > before; });
  tool.send(SIGINT);
  return tool.wait();
}

int parallelism_of(const SmallJob& job) {
  const ToolEnd end = job.tool({"status", SmallJob::file, "--json"});
  return nlohmann::json::parse(end.output)["checkpoint"]["parallelism"].get<int>();
}

void check_rescaled(const SmallJob& job, const Tool::Words& settings) {
  const auto with = [&](const std::string& parallelism) {
    Tool::Words words = settings;
    words.insert(words.end(), {"--parallelism", parallelism});
    return words;
  };
  const ToolEnd first = run_on(job, with("1"));
  INFO(first.output << first.errors);
  REQUIRE(first.exit_code == 130);
  CHECK(first.output.find("subtask") == std::string::npos);
  CHECK(parallelism_of(job) == 1);

  const ToolEnd second = run_on(job, with("3"));
  INFO(second.output << second.errors);
  REQUIRE(second.exit_code == 130);
  CHECK_THAT(second.output, Contains("note: goes on with 3 subtasks of each operator instead of "
                                     "1\n"));
  CHECK(parallelism_of(job) == 3);

  const ToolEnd third = job.run(with("2"));
  INFO(third.output << third.errors);
  CHECK(third.exit_code == 0);
  CHECK_THAT(third.output, Contains("note: goes on with 2 subtasks of each operator instead of "
                                    "3\n"));
  CHECK(parallelism_of(job) == 2);
  CHECK(job.rows() == job.expected_rows());
}

}  // namespace

TEST_CASE("a job that is rescaled twice shows the rows of one that was not", "[tool][rescale]") {
  const SmallJob job;
  job.write_long_input(long_input);
  check_rescaled(job, {});
}

TEST_CASE("a job that writes at once is rescaled as well", "[tool][rescale]") {
  const SmallJob job;
  job.write_long_input(long_input);
  check_rescaled(job, {"--set", "sink.mode=upsert", "--set", "sink.unique=true"});
}

TEST_CASE("a job is rescaled by whatever names the number, the flag before the rest",
          "[tool][rescale]") {
  const SmallJob job;
  CHECK(job.run({"--set", "job.parallelism=5", "--parallelism", "4"}).exit_code == 0);
  CHECK(parallelism_of(job) == 4);
  CHECK(job.rows() == job.expected_rows());
  // Of a finished job nothing goes on.
  CHECK(job.run({"--parallelism", "1"}).output ==
        "this job is finished: all rows are visible in table t in out.db\n");
}
