#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/sim/disk.hpp"

#include "stage.hpp"

using namespace millrace;
using namespace millrace::sim;
using namespace std::chrono_literals;

// What a power loss leaves of the names of files, and how a node uses its disk (DISK.md).

namespace {

using Names = std::vector<std::string>;

SimDisk disk_of(std::uint64_t seed) { return SimDisk(Draws({seed}, Domain::world, "disk/test")); }

/// A file with synced bytes, whose name is not synced.
void make(SimDisk& disk, const std::string& path, std::string_view text) {
  const auto inode = disk.create(path);
  inode->truncate(0);
  inode->write(0, as_bytes(text));
  inode->sync();
}

/// The file's text, or "-" if there is none.
std::string text_of(const SimDisk& disk, const std::string& path) {
  const auto inode = disk.find(path);
  if (inode == nullptr) return "-";
  std::string text(inode->size(), '?');
  inode->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// What a power loss can leave of the names in the root after `act`, over many runs.
template <class Act>
std::set<Names> left_by(Act act) {
  std::set<Names> left;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk = disk_of(seed);
    act(disk);
    disk.lose_power();
    left.insert(disk.list(""));
  }
  return left;
}

}  // namespace

TEST_CASE("of names that were made, the first ones survive", "[sim][disk]") {
  const auto left = left_by([](SimDisk& disk) {
    for (const char* name : {"c", "a", "b"}) make(disk, name, "text");
  });

  CHECK(left == std::set<Names>{{}, {"c"}, {"a", "c"}, {"a", "b", "c"}});
}

TEST_CASE("creations, renames and removals survive as a prefix of their order", "[sim][disk]") {
  const auto left = left_by([](SimDisk& disk) {
    make(disk, "old", "text");
    disk.sync_directory("");
    make(disk, "new", "text");
    disk.rename("new", "named");
    disk.remove("old");
    make(disk, "newer", "text");
  });

  CHECK(left ==
        std::set<Names>{{"old"}, {"new", "old"}, {"named", "old"}, {"named"}, {"named", "newer"}});
}

TEST_CASE("a rename leaves the old file or the new one under its name, never neither",
          "[sim][disk]") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk = disk_of(seed);
    make(disk, "head", "old");
    disk.sync_directory("");
    make(disk, "head~1", "new");
    disk.rename("head~1", "head");
    CHECK(text_of(disk, "head") == "new");
    disk.lose_power();
    seen.insert(text_of(disk, "head"));
  }

  CHECK(seen == std::set<std::string>{"old", "new"});
}

TEST_CASE("a removal that was undone brings the file back as it was synced", "[sim][disk]") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk = disk_of(seed);
    make(disk, "journal", "synced");
    disk.sync_directory("");
    disk.remove("journal");
    CHECK(text_of(disk, "journal") == "-");
    disk.lose_power();
    seen.insert(text_of(disk, "journal"));
  }

  CHECK(seen == std::set<std::string>{"-", "synced"});
}

TEST_CASE("every number of changes of names is lost equally often", "[sim][disk]") {
  std::vector<int> counts(4, 0);
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    SimDisk disk = disk_of(seed);
    for (const char* name : {"a", "b", "c"}) make(disk, name, "text");
    disk.lose_power();
    ++counts.at(disk.list("").size());
  }

  for (const int count : counts) {
    CHECK(count > 900);  // 1,000, and three and a half times its spread of 27.
    CHECK(count < 1'100);
  }
}

TEST_CASE("a sync of a directory makes the names in it durable, and no others", "[sim][disk]") {
  std::set<Names> left_in_a;
  std::set<Names> left_in_b;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk = disk_of(seed);
    disk.make_directory("a");
    disk.make_directory("b");
    disk.make_directory("a/deep");
    make(disk, "b/file", "text");
    make(disk, "a/file", "text");
    make(disk, "a/deep/file", "text");
    disk.sync_directory("a");
    disk.lose_power();
    left_in_a.insert(disk.list("a"));
    left_in_b.insert(disk.list("b"));
    CHECK(disk.list("a/deep").size() <= 1);
  }

  CHECK(left_in_a == std::set<Names>{{"deep/", "file"}});
  CHECK(left_in_b == std::set<Names>{{}, {"file"}});
}

TEST_CASE("a sync of a file does not make its name durable, nor the other way round",
          "[sim][disk]") {
  std::set<std::string> synced_bytes;
  std::set<std::string> synced_name;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk one = disk_of(seed);
    make(one, "file", "text");
    one.lose_power();
    synced_bytes.insert(text_of(one, "file"));

    SimDisk other = disk_of(seed);
    other.create("file")->write(0, as_bytes("text"));
    other.sync_directory("");
    other.lose_power();
    synced_name.insert(text_of(other, "file"));
  }

  CHECK(synced_bytes == std::set<std::string>{"-", "text"});
  CHECK(synced_name.contains(""));
  CHECK(synced_name.contains("text"));
  CHECK_FALSE(synced_name.contains("-"));
}

TEST_CASE("directories are durable as soon as they are made", "[sim][disk]") {
  SimDisk disk = disk_of(7);
  CHECK(disk.create("a/b/file") == nullptr);
  disk.make_directory("a/b");
  disk.lose_power();

  CHECK(disk.list("") == Names{"a/"});
  CHECK(disk.list("a") == Names{"b/"});
  CHECK(disk.create("a/b/file") != nullptr);
  CHECK_FALSE(disk.rename("a/b/file", "c/file"));
  CHECK_FALSE(disk.rename("a/b/nothing", "a/file"));
  CHECK_FALSE(disk.remove("a/b/nothing"));
}

TEST_CASE("a file that was installed is as durable as if it had always been there", "[sim][disk]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimDisk disk = disk_of(seed);
    disk.install("input/a.jsonl", as_bytes("text"));
    disk.lose_power();
    CHECK(text_of(disk, "input/a.jsonl") == "text");
  }
}

TEST_CASE("nothing of the names is lost when all is quiet", "[sim][disk]") {
  SimDisk disk(Draws({7, true}, Domain::world, "disk/test"));
  make(disk, "a", "text");
  make(disk, "b", "text");
  disk.rename("a", "c");
  disk.lose_power();

  CHECK(disk.list("") == Names{"b", "c"});
}

TEST_CASE("a lock is held once, until it is given back or its holders are gone", "[sim][disk]") {
  SimDisk disk = disk_of(7);
  CHECK(disk.lock("a"));
  CHECK(disk.lock("b"));
  CHECK_FALSE(disk.lock("a"));
  disk.unlock("a");
  CHECK(disk.lock("a"));
  disk.release_locks();
  CHECK(disk.lock("a"));
  disk.lose_power();
  CHECK(disk.lock("b"));
}

TEST_CASE("the death of a process loses nothing that it wrote", "[sim][disk]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Stage stage({seed});
    World& world = stage.world;
    const NodeId node = stage.add("worker1", [](Env& env) {
      for (const char* name : {"a", "b"}) {
        env.disk.open(name, Disk::Open::create)->write_at(0, as_bytes("text"));
      }
      env.disk.rename("a", "c");
      wait_for_ever(env);
    });
    stage.at(at_ms(10), [&] { world.kill(node); });
    stage.run();

    CHECK(world.disk_of(node).list("") == Names{"b", "c"});
    CHECK(text_of(world.disk_of(node), "c") == "text");
    CHECK_FALSE(world.disk_of(node).find("c")->is_synced());
  }
}

TEST_CASE("a loss of power takes what was not synced, of a process that died before too",
          "[sim][disk]") {
  for (const bool was_killed : {false, true}) {
    std::set<Names> left;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Stage stage({seed});
      World& world = stage.world;
      const NodeId node = stage.add("worker1", [](Env& env) {
        env.disk.open("synced", Disk::Open::create)->sync();
        env.disk.sync_directory("");
        env.disk.open("not_synced", Disk::Open::create)->write_at(0, as_bytes("text"));
        wait_for_ever(env);
      });
      if (was_killed) stage.at(at_ms(20), [&] { world.kill(node); });
      stage.at(at_ms(30), [&] { world.lose_power(node); });
      stage.run();
      CHECK(world.state_of(node) == NodeState::dark);
      left.insert(world.disk_of(node).list(""));
    }

    CAPTURE(was_killed);
    CHECK(left == std::set<Names>{{"synced"}, {"not_synced", "synced"}});
  }
}

TEST_CASE("writes and syncs take as long as the timings say, and reads no time", "[sim][disk]") {
  Timings timings;
  timings.disk_write = {10us, 20us};
  timings.disk_sync = {1ms, 2ms};
  std::vector<std::int64_t> writes;
  std::vector<std::int64_t> syncs;
  std::int64_t reads = 0;
  Stage stage({7}, timings);
  stage.add("worker1", [&](Env& env) {
    const auto taken = [&](const auto& act) {
      const Instant before = env.now();
      act();
      return (env.now() - before).count();
    };
    const auto file = env.disk.open("file", Disk::Open::create);
    for (int i = 0; i < 500; ++i) {
      writes.push_back(taken([&] { file->write_at(0, as_bytes("text")); }));
      syncs.push_back(taken([&] { file->sync(); }));
      syncs.push_back(taken([&] { env.disk.sync_directory(""); }));
      writes.push_back(taken([&] { env.disk.rename("file", "file"); }));
      reads += taken([&] {
        env.disk.list("");
        env.disk.open("file", Disk::Open::read)->size_bytes();
      });
    }
  });
  stage.run();

  const auto [least_write, most_write] = std::ranges::minmax_element(writes);
  CHECK(*least_write >= 10'000);
  CHECK(*most_write <= 20'000);
  CHECK(*most_write - *least_write > 9'000);
  const auto [least_sync, most_sync] = std::ranges::minmax_element(syncs);
  CHECK(*least_sync >= 1'000'000);
  CHECK(*most_sync <= 2'000'000);
  CHECK(*most_sync - *least_sync > 900'000);
  CHECK(reads == 0);
}

TEST_CASE("who looks from outside uses devices without time and trace", "[sim][disk]") {
  Instant before;
  Instant after;
  std::uint64_t events_before = 0;
  std::uint64_t events_after = 1;
  Stage stage;
  World& world = stage.world;
  stage.add("worker1", [&](Env& env) {
    const auto file = env.disk.open("file", Disk::Open::create);
    before = env.now();
    events_before = world.trace().events();
    {
      const World::Outside outside(world);
      file->write_at(0, as_bytes("text"));
      file->sync();
      env.disk.sync_directory("");
    }
    after = env.now();
    events_after = world.trace().events();
  });
  stage.run();

  CHECK(after == before);
  CHECK(events_after == events_before);
  CHECK_FALSE(world.is_outside());
}
