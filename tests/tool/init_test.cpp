#include <filesystem>

#include <catch2/catch.hpp>

#include "small_job.hpp"

// `init`: a job file to begin with, that works as it is.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

TEST_CASE("`init` writes a job that lacks nothing but its input", "[tool][init]") {
  const SmallJob place;

  const ToolEnd end = place.tool({"init", "orders.toml"});

  INFO(end.output << end.errors);
  REQUIRE(end.exit_code == 0);
  CHECK_THAT(end.output, StartsWith("orders.toml was written."));
  CHECK_THAT(end.output, EndsWith("  millrace check orders.toml\n"));
  const ToolEnd without = place.tool({"check", "orders.toml"});
  CHECK(without.exit_code == 2);
  CHECK_THAT(without.errors, Contains("input/*.jsonl"));

  std::filesystem::create_directory(place.path("input"));
  place.write("input/a.jsonl",
              "{\"customer\":\"ada\",\"at\":1517443200000,\"amount\":12.5}\n"
              "{\"customer\":\"ada\",\"at\":1517443200001}\n"
              "{\"customer\":\"\",\"at\":1517443200002,\"amount\":1}\n");
  const ToolEnd check = place.tool({"check", "orders.toml"});
  INFO(check.output << check.errors);
  CHECK(check.exit_code == 0);
  CHECK_THAT(check.output, StartsWith("job       orders\n"));
  CHECK_THAT(check.output, Contains("1 partitions"));
  const ToolEnd test = place.tool({"test", "orders.toml", "--seeds", "3"});
  INFO(test.output << test.errors);
  CHECK(test.exit_code == 0);
  const ToolEnd run = place.tool({"run", "orders.toml"});
  INFO(run.output << run.errors);
  CHECK(run.exit_code == 0);
  CHECK(place.has("orders.db"));
  CHECK(place.has("orders.state"));
}

TEST_CASE("a file of `init` explains each of its keys", "[tool][init]") {
  const SmallJob place;
  REQUIRE(place.tool({"init"}).exit_code == 2);  // The place has a job.toml.
  REQUIRE(place.tool({"init", "mine.toml"}).exit_code == 0);
  const std::string text = place.read("mine.toml");
  for (const char* key : {"parallelism", "format", "files", "fields", "event_time", "disorder",
                          "on_bad_record", "filter", "window", "aggregate", "table", "database",
                          "mode", "key", "directory", "interval"}) {
    CHECK_THAT(text, Contains("\n" + std::string(key) + " = "));
  }
}

TEST_CASE("`init` overwrites nothing, and says where it cannot write", "[tool][init]") {
  const SmallJob place;
  const std::string before = place.read(SmallJob::file);
  const ToolEnd end = place.tool({"init"});
  CHECK(end.exit_code == 2);
  CHECK(end.output.empty());
  CHECK(end.errors ==
        "millrace: job.toml is there already and is not overwritten; name another file\n");
  CHECK(place.read(SmallJob::file) == before);

  const ToolEnd nowhere = place.tool({"init", "none/job.toml"});
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.errors == "millrace: none/job.toml: No such file or directory\n");
}
