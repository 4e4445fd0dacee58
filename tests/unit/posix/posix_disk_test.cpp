#include "millrace/posix/posix_disk.hpp"

#include <functional>

#include <catch2/catch.hpp>
#include <signal.h>
#include <unistd.h>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"

#include "forked.hpp"
#include "temporary_directory.hpp"

using namespace millrace;
using namespace millrace::posix;

namespace {

template <class Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace

TEST_CASE("errors of the disk name the path and the reason", "[posix][disk]") {
  const TemporaryDirectory directory;
  const auto& path = directory.path();
  PosixDisk disk;
  disk.open(path + "/file", Disk::Open::create);

  CHECK(message_of<NotFound>([&] { disk.open(path + "/a", Disk::Open::read); }) ==
        "cannot open " + path + "/a: No such file or directory");
  CHECK(message_of<IoError>([&] { disk.open(path, Disk::Open::read); }) ==
        "cannot open " + path + ": Is a directory");
  CHECK(message_of<IoError>([&] { disk.open(path + "/file/a", Disk::Open::create); }) ==
        "cannot create " + path + "/file/a: Not a directory");
  CHECK(message_of<IoError>([&] { disk.list(path + "/file"); }) ==
        "cannot list " + path + "/file: Not a directory");
  CHECK(message_of<IoError>([&] { disk.make_directory(path + "/file"); }) ==
        "cannot make the directory " + path + "/file: File exists");
  CHECK(message_of<IoError>([&] { disk.make_directory(path + "/file/a"); }) ==
        "cannot make the directory " + path + "/file/a: Not a directory");
  CHECK(message_of<IoError>([&] { disk.sync_directory(path + "/file"); }) ==
        "cannot sync the directory " + path + "/file: Not a directory");
  CHECK(message_of<IoError>([&] { disk.remove(path); }) ==
        "cannot remove " + path + ": Is a directory");
  CHECK(message_of<NotFound>([&] { disk.rename(path + "/a", path + "/b"); }) ==
        "cannot rename " + path + "/a to " + path + "/b: No such file or directory");
  CHECK(message_of<IoError>([&] { disk.try_lock(path); }) ==
        "cannot open " + path + ": Is a directory");
}

TEST_CASE("a file that was opened to be read cannot be written", "[posix][disk]") {
  const TemporaryDirectory directory;
  PosixDisk disk;
  disk.open(directory.path() + "/a", Disk::Open::create);
  const auto file = disk.open(directory.path() + "/a", Disk::Open::read);

  CHECK(message_of<IoError>([&] { file->write_at(0, as_bytes("x")); }) ==
        "cannot write " + directory.path() + "/a: Bad file descriptor");
}

TEST_CASE("a full disk is told apart from a failing one", "[posix][disk]") {
  PosixDisk disk;
  const auto file = disk.open("/dev/full", Disk::Open::write);

  CHECK_THROWS_AS(file->write_at(0, as_bytes("x")), NoSpace);
}

TEST_CASE("paths may be relative, and end with slashes", "[posix][disk]") {
  const TemporaryDirectory directory;
  PosixDisk disk;

  disk.make_directory(directory.path() + "/a/b//");

  CHECK(disk.list(directory.path() + "/a") == std::vector<std::string>{"b/"});
  CHECK_NOTHROW(disk.make_directory("."));
  CHECK_NOTHROW(disk.make_directory("/"));
  CHECK_NOTHROW(disk.make_directory(""));
  CHECK_NOTHROW(disk.sync_directory("."));
}

TEST_CASE("a lock tells another process who holds it, and does not outlive its owner",
          "[posix][disk]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() + "/owner.lock";
  CHECK(lock_owner(path) == std::nullopt);
  LinePipe to_test;
  LinePipe to_owner;
  const auto owner = ::fork();
  if (owner == 0) {
    PosixDisk disk;
    const auto lock = disk.try_lock(path);
    to_test.send(lock != nullptr ? "held" : "not held");
    to_owner.receive();  // Never comes: the owner dies with the lock in its hands.
    ::_exit(0);
  }
  REQUIRE(to_test.receive() == "held");
  PosixDisk disk;

  CHECK(disk.try_lock(path) == nullptr);
  const auto text = lock_owner(path);
  REQUIRE(text);
  CHECK_THAT(*text, Catch::Matches("process " + std::to_string(owner) +
                                   " on .+, since [0-9-]+T[0-9:]+\\.[0-9]{3}Z"));

  ::kill(owner, SIGKILL);
  to_test.close_sending();
  CHECK(to_test.receive().empty());  // All that the owner had open is closed.
  CHECK(disk.try_lock(path) != nullptr);
  CHECK(lock_owner(path)->starts_with("process " + std::to_string(::getpid()) + " "));
}
