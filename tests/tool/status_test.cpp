#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "small_job.hpp"

// `millrace status` and `millrace inspect`: what a job's store says, in words and as JSON.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::Matches;
using Catch::StartsWith;

namespace {

constexpr int long_input = 600;

nlohmann::json json_of(const SmallJob& job, const std::string& command) {
  const ToolEnd end = job.tool({command, SmallJob::file, "--json"});
  INFO(end.output << end.errors);
  REQUIRE(end.exit_code == 0);
  return nlohmann::json::parse(end.output);
}

/// `1.7` as a pair, in the order of checkpoints.
std::pair<int, int> id_of(const nlohmann::json& text) {
  const auto id = text.get<std::string>();
  const auto dot = id.find('.');
  return {std::stoi(id.substr(0, dot)), std::stoi(id.substr(dot + 1))};
}

}  // namespace

TEST_CASE("a job that was never run has no status", "[tool][status]") {
  const SmallJob job;
  for (const char* const command : {"status", "inspect"}) {
    const ToolEnd end = job.tool({command, SmallJob::file});
    CHECK(end.exit_code == 2);
    CHECK(end.output.empty());
    CHECK(end.errors ==
          "millrace: state: there is no state of job `small`; it was never run, or with another "
          "`checkpoint.directory`\n");
    CHECK_FALSE(job.has("state"));
    CHECK_FALSE(job.has("out.db"));
  }
}

TEST_CASE("the status of a job that is run says by whom and how far", "[tool][status]") {
  const SmallJob job;
  job.write_long_input(long_input);
  Tool run = job.start({"--rate", SmallJob::slow_rate});
  REQUIRE(wait_until(run, [&] { return !job.rows().empty(); }));

  const auto json = json_of(job, "status");
  const ToolEnd text = job.tool({"status", SmallJob::file});

  CHECK(json["job"] == "small");
  CHECK(json["status"] == "running");
  CHECK_THAT(json["owner"].get<std::string>(),
             StartsWith("process " + std::to_string(run.process()) + " on "));
  CHECK(json["term"] == 1);
  CHECK(id_of(json["checkpoint"]["id"]) >= std::pair(1, 1));
  CHECK(json["checkpoint"]["parallelism"] == 2);
  CHECK(json["lag_bytes"] > 0);
  CHECK(json["records"]["read"] > 0);
  CHECK(json["records"]["read"] < long_input);
  CHECK_THAT(text.output, StartsWith("job       small: running by process "));
  CHECK_THAT(text.output, Contains("\nsink      table t in out.db: checkpoint 1."));

  // It did not disturb the run.
  CHECK_FALSE(run.has_ended());
  run.send(SIGINT);
  CHECK(run.wait().exit_code == 130);
}

TEST_CASE("a look at a job between two runs finds what the next one goes on from",
          "[tool][status]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);

  const auto json = json_of(job, "status");

  CHECK(json["status"] == "stopped");
  CHECK(json["owner"].is_null());
  REQUIRE(json["partitions"].size() == 2);
  std::uint64_t lag = 0;
  std::uint64_t records = 0;
  for (const auto& partition : json["partitions"]) {
    const std::string name = "in/" + partition["name"].get<std::string>();
    CHECK(partition["end"] == std::filesystem::file_size(job.path(name)));
    CHECK(partition["lag_bytes"] == partition["end"].get<int>() - partition["offset"].get<int>());
    lag += partition["lag_bytes"].get<std::uint64_t>();
    records += partition["records"].get<std::uint64_t>();
  }
  CHECK(json["lag_bytes"] == lag);
  CHECK(json["records"]["read"] == records);
  REQUIRE(json["sinks"].size() == 1);
  CHECK(json["sinks"][0]["table"] == "t");
  CHECK(json["sinks"][0]["mode"] == "staged");
  CHECK(json["sinks"][0]["visible"] == json["checkpoint"]["id"]);  // It stopped in order.
  CHECK(json["sinks"][0]["rows_waiting"] == 0);
  REQUIRE(json["watermarks"].size() == 1);
  CHECK(json["watermarks"][0]["operator"] == "window");
  CHECK_FALSE(json["watermarks"][0]["at_end"]);
  CHECK_THAT(job.tool({"status", SmallJob::file}).output,
             StartsWith("job       small: stopped, and goes on when it is run\n"));

  CHECK(job.run().exit_code == 0);
  CHECK(job.rows() == job.expected_rows());
}

TEST_CASE("the status of a job that died counts the rows that wait to be shown", "[tool][status]") {
  const SmallJob job;
  job.write_long_input(long_input);
  const ToolEnd end = job.run({"--rate", SmallJob::slow_rate, "--set", "checkpoint.interval=400ms"},
                              killed_at("publish_sent nth=2"));
  REQUIRE(end.signal == SIGKILL);

  const auto json = json_of(job, "status");

  CHECK(json["status"] == "stopped");
  CHECK(json["owner"].is_null());
  CHECK(id_of(json["sinks"][0]["visible"]) < id_of(json["checkpoint"]["id"]));
  const auto waiting = json["sinks"][0]["rows_waiting"].get<std::uint64_t>();
  CHECK(waiting > 0);
  CHECK_THAT(job.tool({"status", SmallJob::file}).output,
             Contains(" is visible, " + std::to_string(waiting) + " decided rows are not yet\n"));
}

TEST_CASE("the status of a finished job says so", "[tool][status]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);

  const auto json = json_of(job, "status");

  CHECK(json["status"] == "finished");
  CHECK(json["lag_bytes"] == 0);
  CHECK(json["records"]["read"] == 3);
  CHECK(json["watermarks"][0]["at_end"]);
  const std::string text = job.tool({"status", SmallJob::file}).output;
  CHECK_THAT(text, StartsWith("job       small: finished, all rows are visible\n"));
  CHECK_THAT(text, Contains("\ninput     3 records read, 0 skipped, 0 dropped as late; 0 bytes of "
                            "98 bytes to read\n"));
  CHECK_THAT(text, Contains("\nwatermark window: all of its input\n"));
}

TEST_CASE("a checkpoint is inspected object by object", "[tool][status]") {
  const SmallJob job;
  job.write_long_input(long_input);
  REQUIRE(job.run_in_part().exit_code == 130);
  const auto status = json_of(job, "status");
  const auto json = json_of(job, "inspect");

  CHECK(json["checkpoint"] == status["checkpoint"]["id"]);
  CHECK(json["lineage"] == status["lineage"]);
  std::uint64_t size = json["manifest"]["size_bytes"].get<std::uint64_t>();
  REQUIRE_FALSE(json["states"].empty());
  for (const auto& state : json["states"]) {
    CHECK(job.has("state/" + state["name"].get<std::string>()));
    for (const auto& section : state["sections"])
      size += section["size_bytes"].get<std::uint64_t>();
  }
  for (const auto& staged : json["staged"]) size += staged["size_bytes"].get<std::uint64_t>();
  CHECK(status["checkpoint"]["size_bytes"] == size);
  CHECK(json["fingerprint"][0]["key"] == "source.format");
  CHECK(json["fingerprint"][0]["value"] == "jsonl");

  const auto id = json["checkpoint"].get<std::string>();
  const ToolEnd text = job.tool({"inspect", SmallJob::file, id});
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.output, StartsWith("checkpoint " + id + " of lineage "));
  CHECK_THAT(text.output, Contains("\n  aggregate = n = count(), total = sum(value)\n"));
  CHECK(job.tool({"inspect", SmallJob::file}).output == text.output);
}

TEST_CASE("a checkpoint that is not kept cannot be inspected", "[tool][status]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  const ToolEnd other = job.tool({"inspect", SmallJob::file, "7.1"});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.errors, Matches("millrace: CHECKPOINT: there is no 7\\.1; the store keeps "
                                   "1\\.\\d+, the newest\n"));
  const ToolEnd nonsense = job.tool({"inspect", SmallJob::file, "newest", "--json"});
  CHECK(nonsense.exit_code == 2);
  CHECK(nonsense.output.empty());
  CHECK(nonsense.errors ==
        "millrace: CHECKPOINT: `newest`; a term and a number are expected, such "
        "as 3.17\n");
}

TEST_CASE("a state that cannot be read is refused by name and not described", "[tool][status]") {
  const SmallJob job;
  REQUIRE(job.run().exit_code == 0);
  const std::string manifest = job.newest("state/manifest");
  std::string bytes = job.read(manifest);
  bytes[30] = static_cast<char>(bytes[30] ^ 1);
  job.write(manifest, bytes);
  for (const char* const command : {"status", "inspect"}) {
    const ToolEnd end = job.tool({command, SmallJob::file});
    CHECK(end.exit_code == 7);
    CHECK(end.output.empty());
    CHECK_THAT(end.errors, StartsWith("millrace: refused (state_unreadable): manifest/1."));
  }
}
