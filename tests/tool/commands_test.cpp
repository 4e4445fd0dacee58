#include <catch2/catch.hpp>

#include "millrace/runtime/landmarks.hpp"

#include "small_job.hpp"

// What the tool says of itself and of a job, and what it makes of words that it does not know.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string corpus_job(const std::string& name) {
  return MILLRACE_ROOT "/corpus/jobs/" + name + ".toml";
}

}  // namespace

TEST_CASE("help is printed when asked for, and for want of a command", "[tool]") {
  const SmallJob job;

  const ToolEnd asked = job.tool({"--help"});
  CHECK(asked.exit_code == 0);
  CHECK_THAT(asked.output, StartsWith("Millrace: an exactly-once stream processor"));
  for (const char* command : {"run", "test", "replay", "shrink", "check", "init", "doctor",
                              "status", "inspect", "landmarks"}) {
    CHECK_THAT(asked.output, Contains("\n  " + std::string(command) + " "));
  }
  const ToolEnd nothing = job.tool({});
  CHECK(nothing.exit_code == 2);
  CHECK(nothing.output == asked.output);
}

TEST_CASE("every command has a help of its own", "[tool]") {
  const SmallJob job;
  for (const std::string command : {"run", "test", "replay", "shrink", "check", "init", "doctor",
                                    "status", "inspect", "landmarks"}) {
    const ToolEnd end = job.tool({command, "--help"});
    CHECK(end.exit_code == 0);
    CHECK_THAT(end.output, Contains("Usage: millrace " + command));
    CHECK_THAT(end.output, Contains("Exit codes: 0 done / held"));
  }
}

TEST_CASE("the version names the build", "[tool]") {
  const ToolEnd end = SmallJob().tool({"--version"});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Catch::Matches("millrace \\d+\\.\\d+\\.\\d+ \\(build [0-9a-f]{16}\\)\n"));
}

TEST_CASE("words that the tool does not know end it with 2 and change nothing", "[tool]") {
  struct Sample {
    Tool::Words words;
    std::string said;
  };
  const std::string job_file = SmallJob::file;
  const std::vector<Sample> samples{
      {{"frobnicate"}, "A subcommand is required"},
      {{"run"}, "JOB is required"},
      {{"test"}, "JOB is required"},
      {{"replay"}, "CASE is required"},
      {{"doctor"}, "JOB is required"},
      {{"status"}, "JOB is required"},
      {{"inspect"}, "JOB is required"},
      {{"doctor", "none.toml"}, "millrace: none.toml: No such file or directory"},
      {{"run", job_file, "--bogus"}, "The following argument was not expected: --bogus"},
      {{"run", job_file, "--parallelism", "0"}, "--parallelism: Value 0 not in range 1 to 128"},
      {{"run", job_file, "--parallelism", "129"}, "--parallelism: Value 129 not in range 1 to 128"},
      {{"run", job_file, "--rate", "0"}, "--rate: Value 0 not in range 1 to 1000000000"},
      {{"run", job_file, "--rate", "fast"}, "--rate: Value fast not in range 1 to 1000000000"},
      {{"test", job_file, "--seeds", "0"}, "--seeds: Value 0 not in range 1 to 1000000000"},
      {{"test", job_file, "--seeds", "-1"}, "--seeds: Value -1 not in range 1 to 1000000000"},
      {{"test", job_file, "--campaign-seed", "-1"},
       "--campaign-seed: Value -1 not in range 0 to 9007199254740992"},
      {{"test", job_file, "--jobs", "0"}, "--jobs: Value 0 not in range 1 to 1024"},
      {{"test", job_file, "--seed", "1", "--seeds", "2"}, "--seeds excludes --seed"},
      {{"test", job_file, "--seed", "zz"},
       "millrace: --seed zz: up to 16 hexadecimal digits are expected"},
      {{"run", "none.toml"}, "millrace: none.toml: No such file or directory"},
      {{"run", "in"}, "millrace: in: Is a directory"},
      {{"check", "none.toml"}, "millrace: none.toml: No such file or directory"},
      {{"test", "none.toml"}, "millrace: none.toml: No such file or directory"},
      {{"test", "nexmark.q99"},
       "millrace: nexmark.q99: neither a job file nor the name of a job in C++; `jobs` lists "
       "those"},
      {{"replay", "none.toml"}, "millrace: none.toml: No such file or directory"},
      {{"run", job_file, "--set", "nonsense"},
       "millrace: --set nonsense: key=value is expected, such as sink.table=other"},
      {{"run", job_file, "--set", "nothing.here=1"},
       "millrace: --set nothing.here=1: there is nothing called `nothing` to set"},
      {{"run", "nexmark.q5", "--set", "checkpoint.interval=0s"},
       "millrace: --set: `checkpoint.interval` is 0; a span above 0 is expected"},
      {{"run", "nexmark.q5", "--set", "sink.table=other"},
       "millrace: --set sink.table: of a job in C++ these can be set: job.parallelism, "
       "source.files, sink.database, and all of checkpoint and restart"},
      {{"run", job_file, "--set", "job.name="},
       "millrace: job.toml: `job.name` is \"\"; a text that is not empty is expected"},
  };
  for (const Sample& sample : samples) {
    const SmallJob job;
    const ToolEnd end = job.tool(sample.words);
    INFO(end.output << end.errors);
    CHECK(end.exit_code == 2);
    CHECK_THAT(end.errors, StartsWith(sample.said + "\n"));
    CHECK_FALSE(job.has("state"));
    CHECK_FALSE(job.has("out.db"));
  }
}

TEST_CASE("`check` says what a job of the corpus means", "[tool]") {
  const SmallJob job;

  const ToolEnd quakes = job.tool({"check", corpus_job("quakes")});
  CHECK(quakes.exit_code == 0);
  CHECK(quakes.errors.empty());
  CHECK_THAT(quakes.output, StartsWith("job       quakes\n"));
  CHECK_THAT(quakes.output, Contains("12 partitions"));
  CHECK_THAT(quakes.output, Contains("filter    network != ''\n"));
  CHECK_THAT(quakes.output, Contains("per network: count = count(), max_magnitude = "
                                     "max(magnitude)\n"));
  CHECK_THAT(quakes.output, Contains("tasks     4 in all\n"));
  CHECK_THAT(quakes.output, Contains("table quakes_per_hour (network, window_start, window_end, "
                                     "count, max_magnitude) in quakes.db\n"));

  const ToolEnd feed = job.tool({"check", corpus_job("quakes_feed")});
  CHECK(feed.exit_code == 0);
  CHECK_THAT(feed.output, Contains("event time `updated`"));
  CHECK_THAT(feed.output, Contains("exactly once"));
  CHECK_THAT(feed.output, Contains("state     quakes_feed.state\n"));
}

TEST_CASE("`check` says what every step of a graph reads and does", "[tool]") {
  const SmallJob job;
  const ToolEnd end = job.tool({"check", corpus_job("after_strong_quakes"), "--svg", "plan.svg"});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("input     feed from "));
  CHECK_THAT(end.output, Contains("input     strong from "));
  CHECK_THAT(end.output, Contains("filter    others of feed: magnitude < 4.5\n"));
  CHECK_THAT(end.output, Contains("join      pairs of strong and others: strong.network = "
                                  "others.network, others from 0s behind to 1h behind strong\n"));
  CHECK_THAT(end.output, Contains("window    per_hour of pairs: 1h long, per strong: "));
  CHECK_THAT(end.output, Contains("both of its records were read"));
  CHECK_THAT(end.output, Contains("a row appears when its window has closed"));
  const std::string picture = job.read("plan.svg");
  for (const std::string said : {">feed<", ">strong<", ">pairs<", ">each<", ">per_hour<", ">hours<",
                                 ">by key<", ">1000 ms after both of its records were read<"}) {
    CHECK_THAT(picture, Contains(said));
  }
}

TEST_CASE("`check` draws the plan of a job", "[tool]") {
  const SmallJob job;
  const ToolEnd end = job.tool({"check", SmallJob::file, "--svg", "plan.svg"});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("picture   plan.svg\n"));
  const std::string picture = job.read("plan.svg");
  CHECK_THAT(picture, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK_THAT(picture, Contains("prefers-color-scheme: dark"));
  for (const std::string said : {">source<", ">window<", ">sink<", ">by key<", ">table t<",
                                 ">exactly once<", ">50 ms after its window has closed<"}) {
    CHECK_THAT(picture, Contains(said));
  }
  const ToolEnd nowhere = job.tool({"check", SmallJob::file, "--svg", "none/plan.svg"});
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.errors == "millrace: --svg none/plan.svg: No such file or directory\n");
}

TEST_CASE("`check` says of each sink what it promises, and when rows appear", "[tool]") {
  const SmallJob job;
  CHECK_THAT(job.tool({"check", SmallJob::file}).output,
             Contains("a row appears about 50ms after its window has closed: with the next "));
  CHECK_THAT(job.tool({"check", SmallJob::file, "--set", "sink.mode=upsert"}).output,
             Contains("each row once by its key: "));
  CHECK_THAT(job.tool({"check", SmallJob::file, "--set", "sink.mode=insert"}).output,
             Contains("at least once: "));
}

TEST_CASE("`check` says when checkpoints are taken and how a job restarts", "[tool]") {
  const SmallJob job;
  CHECK_THAT(job.tool({"check", SmallJob::file}).output,
             Contains("          a checkpoint every 50ms; given up after 10s, and once more than 3 "
                      "in a row\n          have failed, the job restarts\n"
                      "          a restart waits 100ms, doubling up to 5s; after 10 of them "
                      "without a completed checkpoint the job fails\n"));
  const std::string other =
      job.tool({"check", SmallJob::file, "--set", "checkpoint.min_pause=20ms", "--set",
                "restart.strategy=fixed", "--set", "restart.within=1h"})
          .output;
  CHECK_THAT(other, Contains("every 50ms, at least 20ms behind the last; given up"));
  CHECK_THAT(other, Contains("a restart waits 100ms; after 10 of them within 1h the job fails\n"));
  CHECK_THAT(job.tool({"check", "nexmark.q5", "--set", "restart.attempts=0"}).output,
             Contains("          no restart: what goes wrong ends the job\n"));
}

TEST_CASE("`check` runs nothing, and takes settings", "[tool]") {
  const SmallJob job;
  const ToolEnd end = job.tool(
      {"check", SmallJob::file, "--set", "sink.table=other", "--set", "job.parallelism=3"});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("table other ("));
  CHECK_THAT(end.output, Contains("tasks     6 in all\n"));
  CHECK_FALSE(job.has("state"));
  CHECK_FALSE(job.has("out.db"));
}

TEST_CASE("`landmarks` lists every landmark with its meaning", "[tool]") {
  const ToolEnd end = SmallJob().tool({"landmarks"});
  CHECK(end.exit_code == 0);
  for (const Landmark* landmark : landmarks::all) {
    CHECK_THAT(end.output, Contains(std::string(landmark->name)));
    CHECK_THAT(end.output, Contains(std::string(landmark->meaning)));
  }
}
