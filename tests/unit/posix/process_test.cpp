#include "millrace/posix/process.hpp"

#include <fstream>
#include <regex>
#include <vector>

#include <catch2/catch.hpp>
#include <signal.h>

#include "millrace/env/error.hpp"

#include "forked.hpp"
#include "no_sinks.hpp"
#include "temporary_directory.hpp"

using namespace millrace;
using namespace millrace::posix;
using Names = std::vector<std::string>;

namespace {

constexpr Landmark staged{"sink_staged", "rows are staged"};
constexpr Landmark batch{"batch_read", "a batch was read", Landmark::Kind::data};

LandmarkFields about(std::uint64_t n, std::int32_t subtask = -1, std::uint64_t count = 0) {
  LandmarkFields fields;
  fields.id = {{1}, n};
  fields.subtask = subtask;
  fields.count = count;
  return fields;
}

/// The lines of a file, without the time at their beginning, which has to look like one.
Names untimed_lines(const std::string& path) {
  static const std::regex timed(R"((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (.*))");
  Names lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::smatch parts;
    lines.push_back(std::regex_match(line, parts, timed) ? parts[2].str() : "no time: " + line);
  }
  return lines;
}

}  // namespace

TEST_CASE("a process tells its tasks what they are part of", "[posix][process]") {
  NoSinks sinks;
  ProcessOptions options;
  options.coordinators = {"coordinator1", "coordinator2"};
  options.workers = {"worker1"};
  Process process(std::move(options), sinks);
  Names coordinators;
  Names workers;
  Names others;
  std::string node;
  const auto task = process.start("worker1", "window.1", [&](Env& env) {
    node = env.node;
    coordinators = env.host.peers("coordinator");
    workers = env.host.peers("worker");
    others = env.host.peers("database");
  });
  REQUIRE(task->join(Instant::never()));

  CHECK(node == "worker1");
  CHECK(coordinators == Names{"coordinator1", "coordinator2"});
  CHECK(workers == Names{"worker1"});
  CHECK(others.empty());
}

TEST_CASE("a process tells its tasks to stop, and is told how far they are", "[posix][process]") {
  NoSinks sinks;
  Process process({}, sinks);
  std::vector<bool> requested;
  const auto task = process.start("coordinator1", "coordinator", [&](Env& env) {
    requested.push_back(env.host.stop_requested());
    process.request_stop();
    requested.push_back(env.host.stop_requested());
    Progress progress;
    progress.state = Progress::State::finishing;
    progress.records_read = 7;
    env.host.report(progress);
  });
  REQUIRE(task->join(Instant::never()));

  CHECK(requested == std::vector<bool>{false, true});
  CHECK(process.progress().state == Progress::State::finishing);
  CHECK(process.progress().records_read == 7);
}

TEST_CASE("nodes of a process reach each other, over either network", "[posix][process]") {
  for (const auto networking :
       {ProcessOptions::Networking::memory, ProcessOptions::Networking::tcp}) {
    NoSinks sinks;
    ProcessOptions options;
    options.networking = networking;
    Process process(std::move(options), sinks);
    std::string received(5, '?');
    process.run("worker2", "server", [&](Env& env) {
      const auto listener = env.network.listen("greetings");
      listener->bind(env.parker);
      const auto client = process.start("worker1", "client", [](Env& own) {
        const auto connection =
            own.network.connect({"worker2", "greetings"}, Lane::data, Instant::never());
        connection->write(as_bytes("hello"), Instant::never());
      });
      std::unique_ptr<Connection> connection;
      while (!(connection = listener->try_accept())) env.parker.park_until(Instant::never());
      connection->bind(env.parker);
      const auto room = std::as_writable_bytes(std::span(received));
      for (std::size_t done = 0; done < room.size();) {
        const auto count = connection->try_read(room.subspan(done));
        if (count == 0) env.parker.park_until(Instant::never());
        done += count;
      }
      client->join(Instant::never());
    });

    CHECK(received == "hello");
  }
}

TEST_CASE("the log of a run has a line for each landmark of the protocol and each note",
          "[posix][process]") {
  const TemporaryDirectory directory;
  const auto log_file = directory.path() + "/run.log";
  NoSinks sinks;
  ProcessOptions options;
  options.log_file = log_file;
  Process process(std::move(options), sinks);

  process.run("worker1", "sink.0", [](Env& env) {
    env.landmark(staged, about(3, 0, 12));
    env.landmark(batch, about(3));
    env.as("other.1").landmark(staged, about(4));
    env.host.note("the bridge is down");
    // A line is in the file at once, whatever becomes of the process.
    CHECK_FALSE(env.disk.list(".").empty());
  });

  CHECK(untimed_lines(log_file) == Names{"worker1 sink.0 sink_staged term=1 n=3 subtask=0 count=12",
                                         "worker1 other.1 sink_staged term=1 n=4",
                                         "worker1 the bridge is down"});
}

TEST_CASE("a log that cannot be written is the user's mistake", "[posix][process]") {
  NoSinks sinks;
  ProcessOptions options;
  options.log_file = "/nowhere/run.log";

  CHECK_THROWS_WITH(Process(options, sinks),
                    "cannot write the log /nowhere/run.log: No such file or directory");
}

TEST_CASE("an anchor that cannot be read is the user's mistake", "[posix][process]") {
  NoSinks sinks;
  ProcessOptions options;
  options.kill_at = "sink_staged phase=2";

  CHECK_THROWS_AS(Process(options, sinks), UsageError);
}

TEST_CASE("a process dies at its anchor, at once and not before", "[posix][process]") {
  const TemporaryDirectory directory;
  const auto log_file = directory.path() + "/run.log";
  const auto end = run_forked([&] {
    NoSinks sinks;
    ProcessOptions options;
    options.log_file = log_file;
    options.kill_at = "sink_staged role=sink.* n=2 nth=2";
    Process process(std::move(options), sinks);
    const auto task = process.start("worker1", "sink.0", [](Env& env) {
      for (const std::uint64_t n : {1, 2, 3, 2, 4}) env.landmark(staged, about(n));
    });
    task->join(Instant::never());
  });

  CHECK(end.signal == SIGKILL);
  CHECK(untimed_lines(log_file) ==
        Names{"worker1 sink.0 sink_staged term=1 n=1", "worker1 sink.0 sink_staged term=1 n=2",
              "worker1 sink.0 sink_staged term=1 n=3", "worker1 sink.0 sink_staged term=1 n=2"});
}

TEST_CASE("a process also dies at an anchor among data landmarks, without a log",
          "[posix][process]") {
  const auto end = run_forked([] {
    NoSinks sinks;
    ProcessOptions options;
    options.kill_at = "batch_read";
    Process process(std::move(options), sinks);
    process.run("worker1", "source.0", [](Env& env) { env.landmark(batch); });
  });

  CHECK(end.signal == SIGKILL);
}
