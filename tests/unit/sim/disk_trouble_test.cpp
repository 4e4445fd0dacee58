#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

// Disks that fail or are full, and faults that wait for an operation of a disk.

namespace {

using Log = std::vector<std::string>;

template <class Act>
std::string end_of(Act act) {
  try {
    act();
    return "done";
  } catch (const NoSpace&) {
    return "no space";
  } catch (const NotFound&) {
    return "not found";
  } catch (const IoError&) {
    return "error";
  }
}

std::string text_of(const Stage& stage, NodeId node, const std::string& path) {
  const auto inode = const_cast<World&>(stage.world).disk_of(node).find(path);
  if (inode == nullptr) return "-";
  std::string text(inode->size(), '?');
  inode->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// Everything that can be done to a disk, a word of outcome for each.
Log use_all(Env& env, File& file) {
  std::string byte = "?";
  return {
      end_of([&] { file.write_at(0, as_bytes("b")); }),
      end_of([&] { file.write_at(4, as_bytes("longer")); }),
      end_of([&] { file.sync(); }),
      end_of([&] { file.read_at(0, std::as_writable_bytes(std::span(byte))); }),
      end_of([&] { env.disk.open("new", Disk::Open::create); }),
      end_of([&] { env.disk.rename("file", "file"); }),
      end_of([&] { env.disk.remove("nothing"); }),
      end_of([&] { env.disk.make_directory("directory"); }),
      end_of([&] { env.disk.sync_directory(""); }),
  };
}

}  // namespace

TEST_CASE("a disk with errors fails whatever is done to it, and works again afterwards",
          "[sim][trouble]") {
  Log before;
  Log during;
  Log after;
  int effects = 0;
  Stage stage({7}, even_timings());
  stage.add("worker1", [&](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);
    before = use_all(env, *file);
    sleep_until(env, at_ms(20));
    during = use_all(env, *file);
    sleep_until(env, at_ms(60));
    after = use_all(env, *file);
    wait_for_ever(env);
  });
  stage.at(at_ms(15), [&] {
    const auto trouble =
        stage.world.trouble_disk({0}, DiskTrouble::error, [&effects] { ++effects; });
    stage.at(at_ms(50), [&stage, trouble] { stage.world.end(trouble); });
  });
  stage.run();

  CHECK(before == Log(9, "done"));
  CHECK(during == Log(9, "error"));
  CHECK(after == Log(9, "done"));
  CHECK(effects == 1);
}

TEST_CASE("on a full disk only what makes a file longer fails, and nothing of it is done",
          "[sim][trouble]") {
  Log during;
  Log after;
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);
    file->write_at(0, as_bytes("aaaaa"));
    sleep_until(env, at_ms(20));
    during = use_all(env, *file);
    sleep_until(env, at_ms(60));
    after = use_all(env, *file);
    wait_for_ever(env);
  });
  stage.at(at_ms(15), [&] {
    const auto trouble = stage.world.trouble_disk(node, DiskTrouble::full, {});
    stage.at(at_ms(50), [&stage, trouble] { stage.world.end(trouble); });
  });
  stage.run(at_ms(50));
  CHECK(text_of(stage, node, "file") == "baaaa");
  stage.run();

  Log expected(9, "done");
  expected[1] = "no space";
  CHECK(during == expected);
  CHECK(after == Log(9, "done"));
  CHECK(text_of(stage, node, "file") == "baaalonger");
}

TEST_CASE("of a write that fails any first part is there", "[sim][trouble]") {
  std::vector<int> counts(5, 0);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Stage stage({seed}, even_timings());
    const NodeId node = stage.add("worker1", [&](Env& env) {
      const auto file = env.disk.open("file", Disk::Open::create);
      stage.world.trouble_disk({0}, DiskTrouble::error, {});
      end_of([&] { file->write_at(0, as_bytes("abcd")); });
      wait_for_ever(env);
    });
    stage.run();
    const std::string text = text_of(stage, node, "file");
    REQUIRE(std::string("abcd").starts_with(text));
    ++counts[text.size()];
  }
  for (const int count : counts) CHECK(count > 20);
}

TEST_CASE("a sync that fails makes nothing durable, and the next one does", "[sim][trouble]") {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const bool tries_again : {false, true}) {
      Stage stage({seed}, even_timings());
      const NodeId node = stage.add("worker1", [&](Env& env) {
        const auto file = env.disk.open("file", Disk::Open::create);
        env.disk.sync_directory("");
        file->write_at(0, as_bytes("text"));
        const auto trouble = stage.world.trouble_disk({0}, DiskTrouble::error, {});
        end_of([&] { file->sync(); });
        stage.world.end(trouble);
        if (tries_again) file->sync();
        wait_for_ever(env);
      });
      stage.run();
      stage.world.lose_power(node);
      const bool is_there = text_of(stage, node, "file") == "text";
      if (tries_again) CHECK(is_there);
      if (!is_there) ++lost;
    }
  }
  CHECK(lost > 30);
}

TEST_CASE("a judge from outside does not meet the errors of a disk", "[sim][trouble]") {
  Stage stage({7}, even_timings());
  int effects = 0;
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);
    stage.world.trouble_disk({0}, DiskTrouble::error, [&effects] { ++effects; });
    {
      const World::Outside outside(stage.world);
      file->write_at(0, as_bytes("seen"));
    }
    wait_for_ever(env);
  });
  stage.run();

  CHECK(text_of(stage, node, "file") == "seen");
  CHECK(effects == 0);
}

TEST_CASE("a node dies instead of the nth operation of its disk, for every n", "[sim][trouble]") {
  // What the node does, and what is there when it dies instead of it.
  const std::vector<std::string> left{"-", "-", "", "ab", "ab", "abcd"};
  for (std::uint64_t nth = 1; nth <= 5; ++nth) {
    for (const bool with_power : {false, true}) {
      bool finished = false;
      int actions = 0;
      Stage stage({7, true}, even_timings());  // Quiet: a power loss takes nothing away.
      const NodeId node = stage.add("worker1", [&](Env& env) {
        sleep_until(env, at_ms(10));
        const auto file = env.disk.open("file", Disk::Open::create);
        file->write_at(0, as_bytes("ab"));
        file->sync();
        file->write_at(2, as_bytes("cd"));
        env.disk.sync_directory("");
        finished = true;
        wait_for_ever(env);
      });
      stage.at(at_ms(5), [&] {
        stage.world.at_disk_operation(node, nth, [&] {
          ++actions;
          with_power ? stage.world.lose_power(node) : stage.world.kill(node);
        });
      });
      stage.run();

      CAPTURE(nth, with_power);
      CHECK(actions == 1);
      CHECK_FALSE(finished);
      CHECK(stage.world.state_of(node) == (with_power ? NodeState::dark : NodeState::killed));
      CHECK(text_of(stage, node, "file") == left[nth]);
    }
  }
}

TEST_CASE("a node that is paused in front of an operation does it when it wakes",
          "[sim][trouble]") {
  Instant written;
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [&](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);
    file->write_at(0, as_bytes("text"));
    written = env.now();
    wait_for_ever(env);
  });
  stage.world.at_disk_operation(node, 2, [&] { stage.world.pause(node); });
  stage.at(at_ms(20), [&] { stage.world.wake(node); });
  stage.run(at_ms(10));
  CHECK(stage.world.state_of(node) == NodeState::paused);
  stage.run();

  CHECK(written == at_ms(20));
  CHECK(text_of(stage, node, "file") == "text");
}

TEST_CASE("who no longer waits for an operation of a disk is not told of it", "[sim][trouble]") {
  int actions = 0;
  Stage stage({7}, even_timings());
  const NodeId node = stage.add("worker1", [](Env& env) {
    sleep_until(env, at_ms(10));
    env.disk.open("file", Disk::Open::create);
    wait_for_ever(env);
  });
  const auto waiting = stage.world.at_disk_operation(node, 1, [&] { ++actions; });
  stage.at(at_ms(5), [&] { stage.world.end(waiting); });
  stage.run();

  CHECK(actions == 0);
}
