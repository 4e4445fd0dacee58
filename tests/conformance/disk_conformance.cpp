#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

#include "worlds.hpp"

using namespace millrace;
using millrace::conformance::in_every_world_with_directory;
using Names = std::vector<std::string>;

namespace {

std::string text_of(File& file, std::uint64_t offset = 0) {
  std::string text(1'000, '?');
  text.resize(file.read_at(offset, std::as_writable_bytes(std::span(text))));
  return text;
}

std::string text_of(Disk& disk, const std::string& path) {
  return text_of(*disk.open(path, Disk::Open::read));
}

void write(Disk& disk, const std::string& path, std::string_view text) {
  disk.open(path, Disk::Open::create)->write_at(0, as_bytes(text));
}

}  // namespace

TEST_CASE("a file holds what was written, where it was written", "[conformance][disk]") {
  in_every_world_with_directory([](Env& env, const std::string& directory) {
    const auto file = env.disk.open(directory + "/a", Disk::Open::create);
    file->write_at(0, as_bytes("0123456789"));
    file->write_at(3, as_bytes("abc"));
    file->write_at(12, as_bytes("z"));
    file->write_at(5, {});

    CHECK(file->size_bytes() == 13);
    CHECK(text_of(*file) == std::string("012abc6789\0\0z", 13));
    CHECK(text_of(*file, 9) == std::string("9\0\0z", 4));
    CHECK(text_of(*file, 13).empty());
    CHECK(text_of(*file, 1'000).empty());
    file->sync();
    CHECK(text_of(env.disk, directory + "/a").size() == 13);  // Others see it too.
  });
}

TEST_CASE("a file is made, emptied or left alone as it was opened", "[conformance][disk]") {
  in_every_world_with_directory([](Env& env, const std::string& directory) {
    const auto path = directory + "/a";
    CHECK_THROWS_AS(env.disk.open(path, Disk::Open::read), NotFound);
    CHECK_THROWS_AS(env.disk.open(path, Disk::Open::write), NotFound);
    CHECK_THROWS_AS(env.disk.open(directory + "/nowhere/a", Disk::Open::create), NotFound);

    write(env.disk, path, "text");
    env.disk.open(path, Disk::Open::write)->write_at(4, as_bytes("s"));
    CHECK(text_of(env.disk, path) == "texts");
    env.disk.open(path, Disk::Open::create);
    CHECK(text_of(env.disk, path).empty());
  });
}

TEST_CASE("a rename replaces what had the name", "[conformance][disk]") {
  in_every_world_with_directory([](Env& env, const std::string& directory) {
    write(env.disk, directory + "/a", "new");
    write(env.disk, directory + "/b", "old");
    const auto old_file = env.disk.open(directory + "/b", Disk::Open::read);

    env.disk.rename(directory + "/a", directory + "/b");
    env.disk.sync_directory(directory);

    CHECK(text_of(env.disk, directory + "/b") == "new");
    CHECK_THROWS_AS(env.disk.open(directory + "/a", Disk::Open::read), NotFound);
    CHECK(env.disk.list(directory) == Names{"b"});
    CHECK(text_of(*old_file) == "old");  // Whoever has it open keeps it.
    CHECK_THROWS_AS(env.disk.rename(directory + "/a", directory + "/c"), NotFound);
  });
}

TEST_CASE("a file that was removed is gone, and may be removed again", "[conformance][disk]") {
  in_every_world_with_directory([](Env& env, const std::string& directory) {
    write(env.disk, directory + "/a", "text");

    env.disk.remove(directory + "/a");

    CHECK_THROWS_AS(env.disk.open(directory + "/a", Disk::Open::read), NotFound);
    CHECK(env.disk.list(directory).empty());
    CHECK_NOTHROW(env.disk.remove(directory + "/a"));
  });
}

TEST_CASE("directories are made with those above them and listed with what they hold",
          "[conformance][disk]") {
  in_every_world_with_directory([](Env& env, const std::string& directory) {
    env.disk.make_directory(directory + "/x/y/z");
    env.disk.make_directory(directory + "/x/y");  // Is there.
    write(env.disk, directory + "/x/y/b", "");
    write(env.disk, directory + "/x/y/a", "");

    CHECK(env.disk.list(directory) == Names{"x/"});
    CHECK(env.disk.list(directory + "/x/y") == Names{"a", "b", "z/"});
    CHECK(env.disk.list(directory + "/x/y/z").empty());
    CHECK(env.disk.list(directory + "/nowhere").empty());
    CHECK_NOTHROW(env.disk.sync_directory(directory + "/x/y"));
  });
}

TEST_CASE("a lock is held by one at a time, until it goes away", "[conformance][disk]") {
  in_every_world_with_directory([](Env& env, const std::string& directory) {
    const auto path = directory + "/lock";
    auto lock = env.disk.try_lock(path);
    REQUIRE(lock != nullptr);
    bool other_got_it = true;
    const auto other = env.tasks.start(
        "other", [&](Env& own) { other_got_it = own.disk.try_lock(path) != nullptr; });
    REQUIRE(other->join(Instant::never()));

    CHECK_FALSE(other_got_it);
    CHECK(env.disk.try_lock(path) == nullptr);
    CHECK(env.disk.try_lock(directory + "/other_lock") != nullptr);
    lock.reset();
    CHECK(env.disk.try_lock(path) != nullptr);
  });
}
