#include "memory_disk.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

using namespace millrace;

// The other tests believe this disk, so it is tested first.

namespace {

using Loss = MemoryDisk::Loss;

std::string text_of(MemoryDisk& disk, const std::string& path) {
  const auto file = disk.open(path, Disk::Open::read);
  std::string text(file->size_bytes(), '?');
  file->read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void write(MemoryDisk& disk, const std::string& path, std::string_view text, bool sync) {
  const auto file = disk.open(path, Disk::Open::create);
  file->write_at(0, as_bytes(text));
  if (sync) file->sync();
}

}  // namespace

TEST_CASE("a file that was synced is lost with its name", "[files][memory_disk]") {
  MemoryDisk disk;
  disk.make_directory("d");
  write(disk, "d/a", "one", true);

  disk.lose_power({0, Loss::Data::all});

  CHECK_FALSE(disk.has_file("d/a"));
}

TEST_CASE("a name that was synced keeps nothing of bytes that were not", "[files][memory_disk]") {
  MemoryDisk disk;
  disk.make_directory("d");
  write(disk, "d/a", "one", false);
  disk.sync_directory("d");

  disk.lose_power({0, Loss::Data::none});

  CHECK(text_of(disk, "d/a").empty());
}

TEST_CASE("a power loss can keep every other sector", "[files][memory_disk]") {
  MemoryDisk disk;
  disk.make_directory("d");
  write(disk, "d/a", std::string(1536, 'x'), false);
  disk.sync_directory("d");

  disk.lose_power({0, Loss::Data::every_other_sector});

  CHECK(text_of(disk, "d/a") ==
        std::string(512, '\0') + std::string(512, 'x') + std::string(512, '\0'));
}

TEST_CASE("a rename that was not synced is undone as a whole", "[files][memory_disk]") {
  MemoryDisk disk;
  disk.make_directory("d");
  write(disk, "d/a", "old", true);
  write(disk, "d/b", "new", true);
  disk.sync_directory("d");
  disk.rename("d/b", "d/a");
  CHECK(text_of(disk, "d/a") == "new");

  disk.lose_power({0, Loss::Data::all});

  CHECK(text_of(disk, "d/a") == "old");
  CHECK(text_of(disk, "d/b") == "new");
}

TEST_CASE("a disk that died answers nothing until it is started again", "[files][memory_disk]") {
  MemoryDisk disk;
  disk.make_directory("d");
  const auto lock = disk.try_lock("d/lock");
  disk.die_at(1, MemoryDisk::Moment::after);

  CHECK_THROWS_AS(disk.open("d/a", Disk::Open::create), Killed);
  CHECK_THROWS_AS(disk.list("d"), Killed);
  CHECK(disk.is_dead());
  disk.restart();

  CHECK(disk.has_file("d/a"));  // The call took effect before the death.
  CHECK(disk.try_lock("d/lock") != nullptr);
}
