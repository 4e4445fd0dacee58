#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "small_job.hpp"

// `test` and `replay`: that a verdict can be read, kept, and seen again.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using nlohmann::json;

namespace {

/// A job whose longer file has more lines than are written out in a case.
class SimulatedJob : public SmallJob {
 public:
  SimulatedJob() { write_long_input(300); }

  /// Runs one seed and keeps its case. Returns the case's path.
  std::string saved_case() const {
    const ToolEnd end = tool({"test", file, "--seed", "7", "--save", "cases"});
    INFO(end.output << end.errors);
    REQUIRE(end.exit_code == 0);
    REQUIRE_THAT(end.output, EndsWith("a case was written; to see the first again:\n  millrace "
                                      "replay cases/small-held-0000000000007.toml\n"));
    return "cases/small-held-0000000000007.toml";
  }
};

}  // namespace

TEST_CASE("campaigns over the jobs of the corpus hold, and tell what they tried", "[tool]") {
  for (const std::string name : {"quakes", "quakes_feed", "quakes_strong"}) {
    const ToolEnd end = SmallJob().tool(
        {"test", MILLRACE_ROOT "/corpus/jobs/" + name + ".toml", "--seeds", "20", "--json"});
    INFO(end.output << end.errors);
    REQUIRE(end.exit_code == 0);
    const json report = json::parse(end.output);
    CHECK(report["job"] == name);
    CHECK(report["records"] == 1707);
    CHECK(report["campaign_seed"] == 1);
    CHECK(report["runs"] == 20);
    CHECK(report["held"] == 20);
    CHECK(report["breached"] == 0);
    CHECK(report["verdicts"]["held"] == 20);
    CHECK(report["judges"].empty());
    for (const char* kind : {"lost", "duplicated", "altered", "unexpected", "unjudged"}) {
      CHECK(report["rows"][kind] == 0);
    }
    for (const char* number : {"runs_per_second", "runs_per_processor_second", "seconds",
                               "simulated_seconds", "checkpoints_median", "publishes_median"}) {
      CHECK(report[number].is_number());
    }
    for (const char* fault : {"kill", "power_loss", "pause"}) CHECK(report["faults"][fault] > 0);
    CHECK(report["landmarks"]["job_finished"] == 20);
    CHECK(report["cases"].empty());
    CHECK(report["build"].get<std::string>().size() == 16);
  }
}

TEST_CASE("a campaign over random jobs holds, and its cases carry the job that was drawn",
          "[tool]") {
  const SmallJob job;
  const ToolEnd held = job.tool({"test", "random", "--seeds", "40"});
  INFO(held.output << held.errors);
  CHECK(held.exit_code == 0);
  CHECK_THAT(held.output, StartsWith("random\n  input        "));
  CHECK_THAT(held.output, Contains(" records in all, of another job in every run\n"));
  CHECK_THAT(held.output, Contains("  verdicts     held 40\n"));

  const ToolEnd convicted =
      job.tool({"test", "random", "--seeds", "40", "--set", "sink.mode=insert", "--json"});
  INFO(convicted.output << convicted.errors);
  CHECK(convicted.exit_code == 1);
  const json report = json::parse(convicted.output);
  CHECK(report["rows"]["duplicated"] > 0);
  CHECK(report["rows"]["lost"] == 0);
  REQUIRE(!report["cases"].empty());
  const std::string found = report["cases"][0];
  const ToolEnd replayed = job.tool({"replay", found, "--expect"});
  INFO(replayed.output << replayed.errors);
  CHECK(replayed.exit_code == 0);
  CHECK_THAT(replayed.output, Contains(": the same run, event by event\n"));
}

TEST_CASE("settings that no random job has are told before the runs", "[tool]") {
  const ToolEnd end = SmallJob().tool({"test", "random", "--set", "sink.colour=red"});
  CHECK(end.exit_code == 2);
  CHECK_THAT(end.errors, Contains("`sink.colour`"));
}

TEST_CASE("a campaign whose runs are all repeated finds them the same", "[tool]") {
  const ToolEnd end = SmallJob().tool({"test", MILLRACE_ROOT "/corpus/jobs/quakes_feed.toml",
                                       "--seeds", "20", "--check-determinism"});
  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, Contains("  verdicts     held 20\n"));
}

TEST_CASE("a seed is the same run each time, and says what it tries", "[tool]") {
  const SimulatedJob job;
  const auto cases = [&](const char* directory) {
    const ToolEnd end = job.tool({"test", SmallJob::file, "--seed", "1f", "--save", directory});
    CHECK(end.exit_code == 0);
    CHECK_THAT(end.output, StartsWith("seed 000000000001f\n\n[cluster]\nworkers = "));
    CHECK_THAT(end.output, Contains("\n[plan]\nfaults = ["));
    return job.read(job.newest(directory));
  };
  CHECK(cases("first") == cases("second"));  // With the hashes of their traces.
}

TEST_CASE("a file without a byte is input as any other", "[tool]") {
  const SmallJob job;
  job.write(SmallJob::a, "");
  const ToolEnd end = job.tool({"test", SmallJob::file, "--seeds", "3"});
  INFO(end.output << end.errors);
  CHECK(end.exit_code == 0);
}

TEST_CASE("a directory for cases that cannot be made is said before the runs", "[tool]") {
  const SmallJob job;
  const ToolEnd end =
      job.tool({"test", SmallJob::file, "--seeds", "2", "--save", "job.toml/cases"});
  CHECK(end.exit_code == 2);
  CHECK(end.output.empty());
  CHECK(end.errors == "millrace: --save job.toml/cases: no case can be written there\n");
}

TEST_CASE("a saved case replays as the same run", "[tool]") {
  const SimulatedJob job;
  const std::string file = job.saved_case();

  const ToolEnd end = job.tool({"replay", file});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, StartsWith("verdict      held (the case expects held)\n"));
  CHECK_THAT(end.output, EndsWith(": the same run, event by event\n"));

  const ToolEnd again =
      job.tool({"replay", file, "--json", "--expect", "--check-determinism", "--log", "run.log"});
  CHECK(again.exit_code == 0);
  const json report = json::parse(again.output);
  CHECK(report["verdict"] == "held");
  CHECK(report["expect"] == "held");
  CHECK(report["trace"] == "the same run, event by event");
  CHECK(report["judges"].empty());
  CHECK_THAT(job.read(file),
             Contains("\ntrace_hash = \"" + report["trace_hash"].get<std::string>() + "\"\n"));
  CHECK_THAT(job.read("run.log"), Contains(" took_over life=1 term=1 n=0\n"));
  CHECK_THAT(job.read("run.log"), Contains(" job_finished "));
}

TEST_CASE("a case of another build is judged by its verdict alone", "[tool]") {
  const SimulatedJob job;
  const std::string file = job.saved_case();
  std::string text = job.read(file);
  const auto build = text.find("\nbuild = \"") + 10;
  job.write(file, text.replace(build, 16, "0123456789abcdef"));
  const ToolEnd end = job.tool({"replay", file});
  CHECK(end.exit_code == 0);
  CHECK_THAT(end.output, EndsWith(": another build: the verdict counts, not the trace\n"));
}

TEST_CASE("a case that was seen with another trace on the same build is not deterministic",
          "[tool]") {
  const SimulatedJob job;
  const std::string file = job.saved_case();
  std::string text = job.read(file);
  const auto hash = text.find("\ntrace_hash = \"") + 15;
  job.write(file, text.replace(hash, 16, "0123456789abcdef"));
  const ToolEnd end = job.tool({"replay", file});
  CHECK(end.exit_code == 4);
  CHECK_THAT(end.output, Contains("the case was seen with the trace hash 0123456789abcdef on this "
                                  "build"));
}

TEST_CASE("a case with a fault that never happens is stale", "[tool]") {
  const SimulatedJob job;
  const std::string file = job.saved_case();
  std::string text = job.read(file);
  text.erase(text.find("trace_hash"), text.find("job = '''") - text.find("trace_hash"));
  job.write(file, text);
  job.replace(file, "faults = [\n",
              "faults = [\n  \"kill node=worker1 at='sink_staged term=900' down=5ms\",\n");

  const ToolEnd end = job.tool({"replay", file});

  CHECK(end.exit_code == 6);
  CHECK_THAT(end.output, StartsWith("verdict      stale (the case expects held)\n"));
  CHECK_THAT(end.output,
             Contains("never fired  kill node=worker1 at='sink_staged term=900' down=5ms\n"));
  job.replace(file, R"(expect = "held")", R"(expect = "stale")");
  CHECK(job.tool({"replay", file}).exit_code == 6);
  CHECK(job.tool({"replay", file, "--expect"}).exit_code == 0);
}

TEST_CASE("a case with a choice that is never asked for is stale", "[tool]") {
  const SimulatedJob job;
  const std::string file = job.saved_case();
  const std::string never = "product site=inbox.lane entity=nobody/window.0/life1 draw=0 value=1";
  job.replace(file, "quiet = false", "quiet = false\nchoices = [\"" + never + "\"]");

  const ToolEnd end = job.tool({"replay", file});

  CHECK(end.exit_code == 6);
  CHECK_THAT(end.output, StartsWith("verdict      stale (the case expects held)\n"));
  CHECK_THAT(end.output, Contains("never asked  " + never + "\n"));
  const ToolEnd told = job.tool({"replay", file, "--json"});
  CHECK_THAT(told.output, Contains("\"unasked\": [\n    \"" + never + "\"\n  ]"));
}

TEST_CASE("a case whose input has changed is the user's mistake", "[tool]") {
  const SimulatedJob job;
  const std::string file = job.saved_case();
  const std::string text = job.read(SmallJob::a);
  job.write(SmallJob::a, "{\"KEY\"" + text.substr(6));
  const ToolEnd end = job.tool({"replay", file});
  CHECK(end.exit_code == 2);
  CHECK_THAT(end.errors, EndsWith("bytes of ../in/a.jsonl are not those that the case was seen "
                                  "with\n"));

  std::filesystem::remove(job.path(SmallJob::a));
  const ToolEnd gone = job.tool({"replay", file});
  CHECK(gone.exit_code == 2);
  CHECK(gone.errors == "millrace: cases/../in/a.jsonl: No such file or directory\n");
}

TEST_CASE("a case file that is wrong is refused by line and key", "[tool]") {
  struct BadCase {
    std::string from;
    std::string to;
    std::string said;
  };
  const std::vector<BadCase> samples{
      {"format = 1\n", "format = 2\n", "2: `format` is 2; a whole number from 1 to 1 is expected"},
      {"format = 1\n", "format = 1\ncolour = \"red\"\n", "3: `colour` is no key that there is; "},
      {"quiet = false", "quiet = 5", "5: `quiet` is 5; true or false is expected"},
      {R"(seed = "0000000000000007")", R"(seed = "x")",
       "4: `seed` is \"x\"; up to 16 hexadecimal digits are expected"},
      {R"(expect = "held")", R"(expect = "splendid")", "3: "},
      {"format = \"jsonl\"\n", "format = \"xml\"\n",
       ", job:5: `source.format` is \"xml\"; \"jsonl\" or \"csv\" is expected"},
  };
  const SimulatedJob job;
  const std::string file = job.saved_case();
  const std::string text = job.read(file);
  for (const BadCase& bad : samples) {
    job.write(file, text);
    job.replace(file, bad.from, bad.to);
    const ToolEnd end = job.tool({"replay", file});
    INFO(bad.to);
    CHECK(end.exit_code == 2);
    const std::string colon = bad.said.starts_with(',') ? "" : ":";
    CHECK_THAT(end.errors, StartsWith("millrace: " + file + colon + bad.said));
  }
  CHECK(job.tool({"replay", SmallJob::file}).errors ==
        "millrace: job.toml:1: `format` is missing; a whole number from 1 to 1 is expected\n");
}
