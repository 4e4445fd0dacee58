#include "millrace/files/directory_store.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "memory_disk.hpp"

using namespace millrace;

namespace {

constexpr Instant soon{};  // Deadlines are ignored.
using Names = std::vector<std::string>;
using Moment = MemoryDisk::Moment;
using Loss = MemoryDisk::Loss;

std::string text_of(DirectoryStore& store, std::string_view name) {
  const auto bytes = read_whole(store, name, soon);
  return bytes ? std::string(as_text(*bytes)) : "(no such object)";
}

PutOutcome put_text(DirectoryStore& store, std::string_view name, std::string_view text) {
  return put(store, name, as_bytes(text), soon);
}

SwapOutcome swap(DirectoryStore& store, std::uint64_t expected, std::string_view text) {
  return store.put_if_version("head", expected, as_bytes(text), soon);
}

std::string complaint_about(DirectoryStore& store, std::string_view name) {
  try {
    store.create(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an object is not there until it is committed, and then whole", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  const auto writer = store.create("1.1/window.0");
  writer->append(as_bytes("abc"));
  writer->append(as_bytes("def"));
  CHECK(text_of(store, "1.1/window.0") == "(no such object)");

  CHECK(writer->commit(soon) == PutOutcome::stored);

  CHECK(text_of(store, "1.1/window.0") == "abcdef");
  CHECK(writer->commit(soon) == PutOutcome::stored);  // Asking again is answered again.
}

TEST_CASE("an object may be empty, and be replaced", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");

  CHECK(store.create("a")->commit(soon) == PutOutcome::stored);
  CHECK(text_of(store, "a").empty());
  CHECK(put_text(store, "a", "new") == PutOutcome::stored);
  CHECK(text_of(store, "a") == "new");
}

TEST_CASE("a part of an object ends where the object ends", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  put_text(store, "a", "0123456789");
  const auto part = [&](std::uint64_t offset, std::uint64_t length) {
    return std::string(as_text(*store.read("a", offset, length, soon)));
  };

  CHECK(part(2, 3) == "234");
  CHECK(part(8, 100) == "89");
  CHECK(part(10, 1).empty());
  CHECK(part(100, 1).empty());
  CHECK(store.read("b", 0, 1, soon) == std::nullopt);
}

TEST_CASE("a large object is written in pieces of at least 64 KiB", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  std::string expected;
  const auto writer = store.create("large");
  for (std::size_t size : {10, 70'000, 1, 65'536, 65'535, 2, 200'000, 5}) {
    const std::string part(size, static_cast<char>('a' + expected.size() % 26));
    writer->append(as_bytes(part));
    expected += part;
  }

  REQUIRE(writer->commit(soon) == PutOutcome::stored);

  CHECK(text_of(store, "large") == expected);
  auto sizes = disk.write_sizes();
  REQUIRE(sizes.size() > 3);
  sizes.pop_back();  // The last one is what was left.
  CHECK(std::ranges::all_of(sizes, [](std::size_t size) { return size >= 65'536; }));
}

TEST_CASE("names that could leave the directory or be no object are refused", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  for (const auto* name : {"", "/", "/a", "a/", "a//b", "..", "a/../b", ".", "a/./b", "a b", "a~b",
                           "a\nb", "a\\b", "ä"}) {
    CAPTURE(name);
    CHECK(complaint_about(store, name).find("cannot be the name of an object") !=
          std::string::npos);
    CHECK_THROWS_AS(store.read(name, 0, 1, soon), UsageError);
    CHECK_THROWS_AS(store.remove(name, soon), UsageError);
    CHECK_THROWS_AS(store.read_register(name, soon), UsageError);
    CHECK_THROWS_AS(store.put_if_version(name, 0, {}, soon), UsageError);
  }
  for (const auto* name : {"head", "1.2/sink.0", "...", "a/.b", "X-9"}) {
    CAPTURE(name);
    CHECK(complaint_about(store, name).empty());
  }
}

TEST_CASE("objects are listed by prefix, sorted, without what is none", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  for (const auto* name : {"1.2/b", "1.2/a", "1.10/a", "1.2-x", "2/deep/er/a"}) {
    put_text(store, name, "x");
  }
  swap(store, 0, "x");
  disk.put_file("state/no object", "x");
  const auto open = store.create("1.2/open");
  open->append(Bytes(70'000));  // Has a temporary file.

  CHECK(store.list("", soon) == Names{"1.10/a", "1.2-x", "1.2/a", "1.2/b", "2/deep/er/a", "head"});
  CHECK(store.list("1.2", soon) == Names{"1.2-x", "1.2/a", "1.2/b"});
  CHECK(store.list("1.2/", soon) == Names{"1.2/a", "1.2/b"});
  CHECK(store.list("2/deep/e", soon) == Names{"2/deep/er/a"});
  CHECK(store.list("3", soon).empty());
}

TEST_CASE("an object that was removed is gone, and may be removed again", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  put_text(store, "a", "x");

  store.remove("a", soon);

  CHECK(text_of(store, "a") == "(no such object)");
  CHECK_NOTHROW(store.remove("a", soon));
}

TEST_CASE("what was removed stays away from the first listing without it on", "[files][store]") {
  for (const bool listed : {false, true}) {
    MemoryDisk disk;
    DirectoryStore store(disk, "state", "w1");
    put_text(store, "1/a", "x");
    put_text(store, "b", "x");
    store.remove("1/a", soon);
    store.remove("b", soon);

    if (listed) CHECK(store.list("", soon).empty());
    disk.lose_power({0, Loss::Data::none});

    CHECK(store.list("", soon) == (listed ? Names{} : Names{"1/a", "b"}));
  }
}

TEST_CASE("where nothing was ever stored there is nothing to list", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  CHECK(store.list("", soon).empty());
}

TEST_CASE("a writer that is let go leaves nothing once the next one comes", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  {
    const auto writer = store.create("a");
    writer->append(Bytes(70'000));
    REQUIRE(disk.files().size() == 1);
  }

  store.create("b");

  CHECK(disk.files().empty());
}

TEST_CASE("what writers of a dead process left is removed on demand", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore dead(disk, "state", "w1");
  put_text(dead, "1/kept", "x");
  swap(dead, 0, "x");
  const auto writer = dead.create("1/a");
  writer->append(Bytes(70'000));
  REQUIRE(disk.files().size() == 4);  // With the lock of the register.

  DirectoryStore store(disk, "state", "w2");
  store.remove_temporaries();

  CHECK(disk.files() == Names{"state/1/kept", "state/head", "state/head~lock"});
  // A writer that was only believed to be dead cannot make half an object of what it has left.
  CHECK_THROWS_AS(writer->commit(soon), WorldError);
  CHECK(text_of(store, "1/a") == "(no such object)");
}

TEST_CASE("a register that was never written has version 0", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");

  CHECK(store.read_register("head", soon).version == 0);
  CHECK(store.read_register("head", soon).bytes.empty());
}

TEST_CASE("a register changes only from the version that was expected", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");

  CHECK(swap(store, 1, "early") == SwapOutcome::refused);
  CHECK(swap(store, 0, "one") == SwapOutcome::stored);
  CHECK(swap(store, 0, "other") == SwapOutcome::refused);
  CHECK(swap(store, 1, "two") == SwapOutcome::stored);

  const Versioned found = store.read_register("head", soon);
  CHECK(found.version == 2);
  CHECK(as_text(found.bytes) == "two");
}

TEST_CASE("a register that somebody else is changing is an unknown outcome", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  swap(store, 0, "one");
  {
    const auto held = disk.try_lock("state/head~lock");
    CHECK(swap(store, 1, "two") == SwapOutcome::unknown);
    CHECK(as_text(store.read_register("head", soon).bytes) == "one");
  }

  CHECK(swap(store, 1, "two") == SwapOutcome::stored);
}

TEST_CASE("a register that is corrupt is named, and not overwritten", "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  disk.put_file("state/head", "no envelope, but long enough to be one");

  CHECK_THROWS_AS(swap(store, 0, "one"), CorruptObject);
  CHECK_THROWS_WITH(store.read_register("head", soon), Catch::StartsWith("head: "));
  CHECK(text_of(store, "head") == "no envelope, but long enough to be one");
}

TEST_CASE("a register that was read survives, though its writer had not synced it",
          "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  swap(store, 0, "one");
  // The ninth call is the last of a swap: the sync of the directory.
  disk.fail_at(9, Moment::before);
  REQUIRE(swap(store, 1, "two") == SwapOutcome::unknown);
  REQUIRE(disk.unsynced_names() != 0);

  REQUIRE(store.read_register("head", soon).version == 2);
  disk.lose_power({0, Loss::Data::none});

  CHECK(store.read_register("head", soon).version == 2);
}

TEST_CASE("a register that was read survives, even if whoever wrote it synced nothing",
          "[files][store]") {
  MemoryDisk disk;
  DirectoryStore store(disk, "state", "w1");
  swap(store, 0, "one");
  const auto sealed = read_whole(store, "head", soon);
  disk.remove("state/head");
  disk.open("state/head", Disk::Open::create)->write_at(0, *sealed);

  REQUIRE(store.read_register("head", soon).version == 1);
  disk.lose_power({0, Loss::Data::none});

  CHECK(store.read_register("head", soon).version == 1);
}

TEST_CASE("a commit of unknown outcome can be repeated until it is stored", "[files][store]") {
  // Calls of a commit of what was written already: sync, rename, sync the directory.
  for (const std::uint64_t failing : {2, 3}) {
    for (const auto moment : {Moment::before, Moment::after}) {
      CAPTURE(failing, moment);
      MemoryDisk disk;
      DirectoryStore store(disk, "state", "w1");
      const std::string text(150'000, 'x');
      const auto writer = store.create("a");
      writer->append(as_bytes(text));
      disk.fail_at(failing, moment);
      REQUIRE(writer->commit(soon) == PutOutcome::unknown);

      REQUIRE(writer->commit(soon) == PutOutcome::stored);
      disk.lose_power({0, Loss::Data::none});

      CHECK(text_of(store, "a") == text);
    }
  }
}

TEST_CASE("a writer whose write or sync failed does not pretend to have written",
          "[files][store]") {
  for (const std::uint64_t failing : {1, 2, 3, 4}) {
    CAPTURE(failing);
    MemoryDisk disk;
    DirectoryStore store(disk, "state", "w1");
    const auto writer = store.create("a");
    writer->append(as_bytes("text"));
    disk.fail_at(failing, Moment::halfway);

    CHECK_THROWS_AS(writer->commit(soon), IoError);
    CHECK_THROWS_AS(writer->commit(soon), IoError);  // Though the disk works again.
    CHECK(text_of(store, "a") == "(no such object)");
  }
}
