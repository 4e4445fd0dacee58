#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::posix {

/// What is known of the file system under a path.
struct FileSystemFacts {
  std::string type;  ///< As the kernel calls it: `ext4`, `tmpfs`, `fuse.sshfs`. Empty: unknown.
  std::string mount_point;  ///< Empty: unknown.
  std::uint64_t size_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< That this user may still write.
};

/// Asks the kernel. `path` must exist.
/// Throws NotFound, IoError.
FileSystemFacts file_system_of(const std::string& path);

/// What a file system promises of bytes that were synced, as far as its type tells.
enum class Keeping : std::uint8_t {
  local,   ///< On a device of this machine: they outlive a loss of power.
  memory,  ///< They are gone with the power.
  remote,  ///< Someone else's word: a server's, or a program's in user space.
  layer,   ///< They are gone with the container.
  unknown,
};
/// Pure.
Keeping keeping_of(std::string_view type);

/// The type of the mount that `path`, absolute and without `..`, lies on, by the lines of
/// /proc/self/mounts: the longest mount point wins, and of equal ones the last. Pure.
/// Sets only `type` and `mount_point`.
FileSystemFacts find_mount(std::string_view mounts, std::string_view path);

/// Whether a lock that this process takes on `path` keeps another process out. Makes the file if
/// it is not there, and leaves it. Forks, so no other thread may be at work.
/// Throws IoError.
bool lock_keeps_others_out(const std::string& path);

}  // namespace millrace::posix
