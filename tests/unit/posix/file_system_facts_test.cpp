#include "millrace/posix/file_system_facts.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/posix/posix_disk.hpp"

#include "temporary_directory.hpp"

using namespace millrace;
using namespace millrace::posix;

TEST_CASE("a path lies on the longest mount point above it", "[posix][facts]") {
  const std::string mounts =
      "/dev/a / ext4 rw 0 0\n"
      "tmpfs /dev/shm tmpfs rw 0 0\n"
      "/dev/b /data xfs rw 0 0\n"
      "server:/x /data/far\\040away nfs4 rw 0 0\n"
      "overlay /data overlay rw 0 0\n";
  const auto check = [&](const char* path, const char* mount_point, const char* type) {
    const FileSystemFacts facts = find_mount(mounts, path);
    INFO(path);
    CHECK(facts.mount_point == mount_point);
    CHECK(facts.type == type);
  };
  check("/home/ada", "/", "ext4");
  check("/", "/", "ext4");
  check("/dev/shm/state", "/dev/shm", "tmpfs");
  check("/dev/shmem", "/", "ext4");
  check("/data", "/data", "overlay");  // What was mounted last hides what was there.
  check("/data/far away/state", "/data/far away", "nfs4");
  CHECK(find_mount("", "/data").mount_point.empty());
  CHECK(find_mount("nonsense\n", "/data").type.empty());
}

TEST_CASE("the type of a file system tells what it keeps", "[posix][facts]") {
  CHECK(keeping_of("ext4") == Keeping::local);
  CHECK(keeping_of("xfs") == Keeping::local);
  CHECK(keeping_of("tmpfs") == Keeping::memory);
  CHECK(keeping_of("nfs4") == Keeping::remote);
  CHECK(keeping_of("fuse.sshfs") == Keeping::remote);
  CHECK(keeping_of("overlay") == Keeping::layer);
  CHECK(keeping_of("") == Keeping::unknown);
}

TEST_CASE("the kernel tells of the file system under a directory", "[posix][facts]") {
  const TemporaryDirectory directory;
  const FileSystemFacts facts = file_system_of(directory.path());
  CHECK(facts.mount_point.starts_with("/"));
  CHECK_FALSE(facts.type.empty());
  CHECK(facts.size_bytes >= facts.free_bytes);
  CHECK_THROWS_AS(file_system_of(directory.path() + "/none"), NotFound);
}

TEST_CASE("a lock keeps another process out, and its holder can be seen", "[posix][facts]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/lock";
  CHECK_FALSE(is_locked(path));
  CHECK(lock_keeps_others_out(path));
  CHECK_FALSE(is_locked(path));  // It was let go.
  auto lock = PosixDisk().try_lock(path);
  CHECK(is_locked(path));
  CHECK_THROWS_AS(lock_keeps_others_out(path), IoError);
  lock.reset();
  CHECK_FALSE(is_locked(path));
  CHECK(PosixDisk().try_lock(path) != nullptr);
}
