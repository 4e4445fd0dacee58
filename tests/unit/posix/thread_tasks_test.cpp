#include <catch2/catch.hpp>
#include <signal.h>

#include "millrace/env/error.hpp"
#include "millrace/posix/process.hpp"

#include "forked.hpp"
#include "no_sinks.hpp"
#include "temporary_directory.hpp"

using namespace millrace;
using namespace millrace::posix;

// What the conformance tests cannot show, because it ends the process.

namespace {

/// Runs `body` as a task `window.1` of a process of its own.
ForkedEnd run_task(const std::function<void(Env&)>& body) {
  const TemporaryDirectory directory;  // Not the child's, which may not live to remove it.
  return run_forked([&] {
    NoSinks sinks;
    ProcessOptions options;
    options.store_directory = directory.path();
    Process process(std::move(options), sinks);
    process.start("worker1", "window.1", body)->join(Instant::never());
  });
}

bool says(const ForkedEnd& end, std::string_view part) {
  return end.errors.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an error that leaves a task ends the process and names the task", "[posix][tasks]") {
  const auto end = run_task([](Env&) { throw WorldError("the bridge is down"); });

  CHECK(end.signal == SIGABRT);
  CHECK(says(end, "task `window.1` on worker1: the bridge is down"));
}

TEST_CASE("anything else that leaves a task ends the process too", "[posix][tasks]") {
  const auto end = run_task([](Env&) { throw 1; });

  CHECK(end.signal == SIGABRT);
  CHECK(says(end, "task `window.1` on worker1: it threw something that is no error"));
}

TEST_CASE("a task may end by its cancellation", "[posix][tasks]") {
  const auto end = run_task([](Env&) { throw Cancelled{}; });

  CHECK(end.exit_code == 0);
  CHECK(end.errors.empty());
}

TEST_CASE("two tasks of one role on a node are a bug", "[posix][tasks]") {
  const auto end = run_task([](Env& env) {
    const auto other = env.tasks.start("window.1", [](Env&) {});
    other->join(Instant::never());
  });

  CHECK(end.signal == SIGABRT);
  CHECK(says(end, "no two tasks that live at once on a node share a role"));
}

TEST_CASE("a process that goes away before its tasks is a bug", "[posix][tasks]") {
  const auto end = run_forked([] {
    NoSinks sinks;
    auto process = std::make_unique<Process>(ProcessOptions{}, sinks);
    process->run("worker1", "test", [&](Env&) { process.reset(); });
  });

  CHECK(end.signal == SIGABRT);
  CHECK(says(end, "tasks end before the process"));
}
