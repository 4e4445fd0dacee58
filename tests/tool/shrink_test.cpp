#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "small_job.hpp"

// `shrink`: a case that fails becomes one that is small, and still is a case.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using nlohmann::json;

namespace {

/// A job that fails as soon as a key has a second row: the sink wants one row a key.
class FailingJob : public SmallJob {
 public:
  FailingJob() {
    write_long_input(300);
    replace(file, "key = [\"key\", \"window_start\"]\nunique = false",
            "key = [\"key\"]\nunique = true");
  }

  /// Lets a campaign find it. Returns the case's path.
  std::string found_case() const {
    const ToolEnd end = tool({"test", file, "--seed", "7", "--save", "cases"});
    INFO(end.output << end.errors);
    REQUIRE(end.exit_code == 8);
    const std::string path = "cases/small-failed-0000000000007.toml";
    REQUIRE(has(path));
    return path;
  }
};

/// Writes a case that fails on its own, with everything in its text.
void write_small_case(const SmallJob& job, const std::string& name, const std::string& lines) {
  job.write(name,
            "# The story of this case.\n#\n# It has two parts.\nformat = 1\nexpect = \"failed\"\n"
            "seed = \"1\"\njob = '''\n" +
                job.read(SmallJob::file) +
                "'''\n[cluster]\nworkers = 2\nparallelism = 2\n[timing]\narrival = \"400ms\"\n"
                "checkpoint_interval = \"100ms\"\n[plan]\nfaults = [\n"
                "  \"pause node=log at=50ms lasts=10ms\",\n]\n"
                "[[input]]\npartition = \"a.jsonl\"\nlines = [\n" +
                lines + "]\n");
}

const std::string three_lines = R"(  '{"key":"a","at":1000,"value":1}',
  '{"key":"b","at":1500,"value":2}',
  '{"key":"a","at":3000,"value":3}',
)";

}  // namespace

TEST_CASE("a failing case of a campaign shrinks to the records that it needs", "[tool][shrink]") {
  const FailingJob job;
  const std::string file = job.found_case();

  const ToolEnd end = job.tool({"shrink", file, "--json"});

  INFO(end.output << end.errors);
  REQUIRE(end.exit_code == 0);
  CHECK(end.errors.empty());
  const json report = json::parse(end.output);
  const std::string smaller = "cases/small-failed-0000000000007.min.toml";
  CHECK(report["path"] == smaller);
  CHECK(report["verdict"] == "failed");
  CHECK(report["judge"] == "");
  CHECK(report["end"] == "smallest");
  CHECK(report["runs"] > 10);
  CHECK(report["runs"] < 300);
  CHECK(report["faults"]["after"] == 0);
  CHECK(report["records"]["before"] == 301);
  CHECK(report["records"]["after"] == 2);  // Two windows of one key.
  CHECK(report["partitions"]["after"] == 1);
  CHECK(report["workers"]["after"] == 1);
  CHECK(report["parallelism"]["after"] == 1);
  const std::string text = job.read(smaller);
  CHECK_THAT(text, StartsWith("# small: failed\n# "));  // What the first case said of itself.
  CHECK_THAT(text, Contains("\n#\n# Shrunk from small-failed-0000000000007.toml in " +
                            std::to_string(report["runs"].get<int>()) + " runs: "));
  CHECK_THAT(text, Contains(" records 301 -> 2, "));
  CHECK_THAT(text, Contains("\nquiet = true\n"));
  CHECK_THAT(text,
             Contains("\ntrace_hash = \"" + report["trace_hash"].get<std::string>() + "\"\n"));

  const ToolEnd replay = job.tool({"replay", smaller, "--expect", "--check-determinism"});
  INFO(replay.output << replay.errors);
  CHECK(replay.exit_code == 0);
  CHECK_THAT(replay.output, EndsWith(": the same run, event by event\n"));
}

TEST_CASE("what was shrunk is told in a table, with the command that shows it", "[tool][shrink]") {
  const FailingJob job;
  write_small_case(job, "story.toml", three_lines);

  const ToolEnd end = job.tool({"shrink", "story.toml"});

  INFO(end.output << end.errors);
  REQUIRE(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("             before     after\n"));
  CHECK_THAT(end.output, Contains("\nfaults               1         0\n"));
  CHECK_THAT(end.output, Contains("\nrecords              3         2\n"));
  CHECK_THAT(end.output, Contains("\nchoices              0         0\n"));
  CHECK_THAT(end.output, Contains("\nworkers              2         1\n"));
  CHECK_THAT(end.output, Contains("nothing that there is to try makes it smaller\n"));
  CHECK_THAT(end.output, Contains("\nsmall: failed\n"));
  CHECK_THAT(
      end.output,
      EndsWith("the case was written; to see it again:\n  millrace replay story.min.toml\n"));
  CHECK_THAT(job.read("story.min.toml"),
             StartsWith("# The story of this case.\n#\n# It has two parts.\n#\n# Shrunk from "
                        "story.toml in "));
  // The case itself is left alone.
  CHECK_THAT(job.read("story.toml"), Contains("\"pause node=log at=50ms lasts=10ms\""));
}

TEST_CASE("a case says which draws it chooses, and shrinking leaves out what is idle",
          "[tool][shrink]") {
  const FailingJob job;
  write_small_case(job, "story.toml", three_lines);
  const std::string never = "world site=network.latency entity=nobody draw=0 value=7";
  job.replace("story.toml", "seed = \"1\"\n",
              "seed = \"1\"\nquiet = true\nchoices = [\n  \"" + never +
                  "\",\n  \"world site=disk.sync_time entity=log/log.session1/life1 draw=0 "
                  "value=500\",\n]\n");

  const ToolEnd replay = job.tool({"replay", "story.toml"});
  INFO(replay.output << replay.errors);
  CHECK(replay.exit_code == 8);  // It fails all the same, so it is not stale.
  CHECK_THAT(replay.output, Contains("never asked  " + never + "\n"));

  const ToolEnd end = job.tool({"shrink", "story.toml", "--json"});
  INFO(end.output << end.errors);
  REQUIRE(end.exit_code == 0);
  const json report = json::parse(end.output);
  CHECK(report["choices"]["before"] == 2);
  CHECK(report["choices"]["after"] == 0);
  CHECK_THAT(job.read("story.min.toml"), Contains("choices 2 -> 0"));
  CHECK_THAT(job.read("story.min.toml"), !Contains("\nchoices = ["));
}

TEST_CASE("shrinking what was shrunk leaves it as it is, in its place", "[tool][shrink]") {
  const FailingJob job;
  write_small_case(job, "story.toml", three_lines);
  REQUIRE(job.tool({"shrink", "story.toml"}).exit_code == 0);
  const std::string text = job.read("story.min.toml");

  const ToolEnd end = job.tool({"shrink", "story.min.toml"});

  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
  CHECK(job.read("story.min.toml") == text);
  CHECK_FALSE(job.has("story.min.min.toml"));
}

TEST_CASE("a search ends with its runs, and its case can be shrunk further", "[tool][shrink]") {
  const FailingJob job;
  const std::string file = job.found_case();

  const ToolEnd end =
      job.tool({"shrink", file, "--runs", "12", "--output", "elsewhere/less.toml", "--json"});
  INFO(end.output << end.errors);
  REQUIRE(end.exit_code == 0);
  const json report = json::parse(end.output);
  CHECK(report["runs"] == 12);
  CHECK(report["end"] == "out_of_runs");
  CHECK(report["path"] == "elsewhere/less.toml");
  // Files that it still refers to are found from where it is.
  CHECK(job.tool({"replay", "elsewhere/less.toml", "--expect"}).exit_code == 0);
  const ToolEnd further = job.tool({"shrink", "elsewhere/less.toml", "--json"});
  INFO(further.output << further.errors);
  REQUIRE(further.exit_code == 0);
  CHECK(json::parse(further.output)["records"]["after"] == 2);
}

TEST_CASE("a case that refers to a file still does when nothing of it could go", "[tool][shrink]") {
  const FailingJob job;
  const std::string file = job.found_case();
  REQUIRE_THAT(job.read(file), Contains("\nfile = \"../in/a.jsonl\"\n"));
  const ToolEnd end = job.tool({"shrink", file, "--runs", "1", "--output", "less.toml"});
  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
  CHECK_THAT(job.read("less.toml"), Contains("\nfile = \"in/a.jsonl\"\n"));
  CHECK(job.tool({"replay", "less.toml", "--expect"}).exit_code == 0);
}

TEST_CASE("a case that holds is not shrunk", "[tool][shrink]") {
  const SmallJob job;
  write_small_case(job, "held.toml", three_lines);
  const ToolEnd end = job.tool({"shrink", "held.toml", "--json"});
  CHECK(end.exit_code == 6);
  CHECK(end.output.empty());
  CHECK(end.errors == "millrace: held.toml holds on this build, so there is nothing to shrink\n");
  CHECK_FALSE(job.has("held.min.toml"));
}

TEST_CASE("what is no case, or no place for one, is said before a run", "[tool][shrink]") {
  const FailingJob job;
  write_small_case(job, "story.toml", three_lines);
  struct Sample {
    Tool::Words words;
    std::string said;
  };
  const std::vector<Sample> samples{
      {{"shrink"}, "CASE is required"},
      {{"shrink", "none.toml"}, "millrace: none.toml: No such file or directory"},
      {{"shrink", "story.toml", "--runs", "0"}, "--runs: Value 0 not in range 1 to 1000000000"},
      {{"shrink", "story.toml", "--output", "in"},
       "millrace: in: a file is expected, not a directory"},
      {{"shrink", "story.toml", "--output", "job.toml/less.toml"},
       "millrace: job.toml/less.toml: no case can be written there"},
      {{"shrink", SmallJob::file},
       "millrace: job.toml:1: `format` is missing; a whole number from 1 to 1 is expected"},
  };
  for (const Sample& sample : samples) {
    const ToolEnd end = job.tool(sample.words);
    INFO(end.output << end.errors);
    CHECK(end.exit_code == 2);
    CHECK_THAT(end.errors, StartsWith(sample.said + "\n"));
  }
  job.replace("story.toml", "node=log", "node=worker9");
  const ToolEnd end = job.tool({"shrink", "story.toml"});
  CHECK(end.exit_code == 2);
  CHECK(end.errors ==
        "millrace: fault `pause node=worker9 at=50ms lasts=10ms`: there is no node "
        "`worker9`\n");
  CHECK_FALSE(job.has("story.min.toml"));
}
