#include "millrace/posix/child_workers.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>
#include <signal.h>
#include <unistd.h>

#include "millrace/posix/stop_signals.hpp"

#include "forked.hpp"
#include "temporary_directory.hpp"

using namespace millrace;
using namespace millrace::posix;
using Lines = std::vector<std::string>;
using Say = std::function<void(std::string_view)>;

namespace {

/// What a parent hears of its children.
struct Heard {
  std::map<int, Lines> lines;
  std::vector<ChildEnd> ends;

  void run(
      int count, const Workers::Child& child, const Workers::OnTick& on_tick,
      const std::function<bool(const ChildEnd&)>& start_again = [](const auto&) { return false; }) {
    ChildWorkers().run(
        count, child, [this](int index, std::string_view line) { lines[index].emplace_back(line); },
        [&](const ChildEnd& end) {
          ends.push_back(end);
          return start_again(end);
        },
        on_tick);
  }
};

bool always() { return true; }

/// Waits for a signal that ends the process.
[[noreturn]] void wait_for_ever() {
  while (true) ::pause();
}

}  // namespace

TEST_CASE("children say lines and end with a code", "[posix][workers]") {
  Heard heard;
  heard.run(
      3,
      [](int index, const Say& say) {
        say("I am " + std::to_string(index));
        say("");
        say(std::string(200'000, 'x'));  // More than a pipe holds.
        return 10 + index;
      },
      always);

  REQUIRE(heard.ends.size() == 3);
  std::set<int> codes;
  for (const auto& end : heard.ends) {
    CHECK(end.signal == 0);
    CHECK(end.exit_code == 10 + end.index);
    codes.insert(end.exit_code);
    CHECK(heard.lines[end.index] ==
          Lines{"I am " + std::to_string(end.index), "", std::string(200'000, 'x')});
  }
  CHECK(codes.size() == 3);
}

TEST_CASE("a child that dies in the middle of a line loses that line only", "[posix][workers]") {
  Lines lines;
  std::vector<ChildEnd> ends;
  ChildWorkers().run(
      1,
      [](int, const Say& say) {
        say(std::to_string(::getpid()));
        say(std::string(10'000'000, 'x'));  // Far more than a pipe holds.
        return 0;
      },
      [&](int, std::string_view line) {
        // Nobody reads the pipe now, so the child is in the middle of its second line.
        ::kill(std::stoi(std::string(line)), SIGKILL);
        lines.emplace_back(line);
      },
      [&](const ChildEnd& end) {
        ends.push_back(end);
        return false;
      },
      always);

  CHECK(lines.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].signal == SIGKILL);
}

TEST_CASE("a child that died is started again if the parent wants it", "[posix][workers]") {
  Heard heard;
  int starts = 0;
  heard.run(
      2,
      [&](int index, const Say& say) {
        say("life " + std::to_string(starts));
        if (index == 1 && starts < 2) ::kill(::getpid(), SIGKILL);
        return 0;
      },
      always,
      [&](const ChildEnd& end) {
        if (end.signal == 0) return false;
        ++starts;
        return true;
      });

  CHECK(heard.lines[0] == Lines{"life 0"});
  CHECK(heard.lines[1] == Lines{"life 0", "life 1", "life 2"});
  CHECK(heard.ends.size() == 4);
}

TEST_CASE("an error that leaves a child's function is the end of the child only",
          "[posix][workers]") {
  // In a process of its own, because the child prints the error.
  const auto end = run_forked([] {
    Heard heard;
    heard.run(
        1, [](int, const Say&) -> int { throw std::runtime_error("the bridge is down"); }, always);
    if (heard.ends.size() != 1 || heard.ends[0].signal != SIGABRT) {
      throw std::runtime_error("the child did not end as expected");
    }
  });

  CHECK(end.exit_code == 0);
  CHECK(end.errors.find("the bridge is down") != std::string::npos);
}

TEST_CASE("children are ended when the parent has heard enough", "[posix][workers]") {
  Heard heard;
  heard.run(
      2,
      [](int, const Say& say) -> int {
        say("ready");
        wait_for_ever();
      },
      [&] { return heard.lines.size() < 2; });

  CHECK(heard.lines.size() == 2);
  CHECK(heard.ends.empty());
}

TEST_CASE("what children had said before they were ended is heard", "[posix][workers]") {
  LinePipe to_child;
  LinePipe to_parent;
  Lines heard;
  bool enough = false;
  ChildWorkers().run(
      2,
      [&](int index, const Say& say) -> int {
        if (index == 0) {
          to_child.receive();
          say("last words");
          to_parent.send("said");
        } else {
          say("go");
        }
        wait_for_ever();
      },
      [&](int, std::string_view line) {
        heard.emplace_back(line);
        if (line != "go") return;
        // In each round the parent listens to child 0 first, so it comes too late for this one.
        to_child.send("now");
        to_parent.receive();
        enough = true;
      },
      [](const ChildEnd&) { return false; }, [&] { return !enough; });

  CHECK(heard == Lines{"go", "last words"});
}

TEST_CASE("children are ended when a callback of the parent throws", "[posix][workers]") {
  ::pid_t child = 0;
  const auto run = [&] {
    ChildWorkers().run(
        1,
        [](int, const Say& say) -> int {
          say(std::to_string(::getpid()));
          wait_for_ever();
        },
        [&](int, std::string_view line) {
          child = std::stoi(std::string(line));
          throw std::runtime_error("the parent is tired");
        },
        [](const ChildEnd&) { return false; }, always);
  };

  CHECK_THROWS_WITH(run(), "the parent is tired");
  REQUIRE(child != 0);
  CHECK(::kill(child, 0) != 0);  // There is no such process any more.
}

TEST_CASE("an interrupt of the parent ends its children", "[posix][workers]") {
  const StopSignals signals;
  Heard heard;
  const auto parent = ::getpid();
  heard.run(
      2,
      [&](int index, const Say& say) -> int {
        // What a terminal sends is sent to all, and only the parent decides.
        ::raise(SIGINT);
        ::raise(SIGINT);
        say("still here");
        if (index == 0) ::kill(parent, SIGINT);
        wait_for_ever();
      },
      [&] { return !signals.requested(); });

  CHECK(signals.requested());
  CHECK(heard.lines[0] == Lines{"still here"});
  CHECK(heard.ends.empty());
}

TEST_CASE("children do not outlive a parent that is killed", "[posix][workers]") {
  LinePipe alive;
  const auto end = run_forked([&] {
    ChildWorkers().run(
        1,
        [&](int, const Say& say) -> int {
          alive.send("child");
          say("kill me");
          wait_for_ever();
        },
        [](int, std::string_view) { ::kill(::getpid(), SIGKILL); },
        [](const ChildEnd&) { return false; }, always);
  });
  CHECK(end.signal == SIGKILL);

  alive.close_sending();

  CHECK(alive.receive() == "child");
  CHECK(alive.receive().empty());  // Comes only when the child has ended too.
}

TEST_CASE("what waits in a buffer is written by one process only", "[posix][workers]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() + "/out";
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs("parent\n", file);  // Too little to be written at once.
  Heard heard;
  heard.run(
      1,
      [&](int, const Say&) {
        std::fputs("child\n", file);
        return 0;
      },
      always);
  std::fclose(file);

  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(text.str() == "parent\nchild\n");
}
