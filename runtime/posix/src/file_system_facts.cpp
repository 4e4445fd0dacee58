#include "millrace/posix/file_system_facts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "millrace/env/error.hpp"
#include "millrace/posix/posix_disk.hpp"

#include "system_error.hpp"

namespace millrace::posix {
namespace {

/// The next word of a line of mounts: blanks inside it are written `\040`.
std::string take_word(std::string_view& line) {
  const auto end = std::min(line.find(' '), line.size());
  std::string word;
  for (std::size_t i = 0; i < end; ++i) {
    if (line[i] == '\\' && i + 3 < end) {
      const auto digit = [&](std::size_t at) { return line[i + at] - '0'; };
      word += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
      i += 3;
    } else {
      word += line[i];
    }
  }
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool lies_under(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_among(std::string_view type, const std::vector<std::string_view>& types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string whole_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), &std::free);
  if (whole == nullptr) throw_io_error(errno, "look at", path);
  return whole.get();
}

}  // namespace

Keeping keeping_of(std::string_view type) {
  if (is_among(type, {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs"})) {
    return Keeping::local;
  }
  if (is_among(type, {"tmpfs", "ramfs"})) return Keeping::memory;
  if (is_among(type, {"overlay", "aufs"})) return Keeping::layer;
  if (type.starts_with("fuse") || is_among(type, {"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs",
                                                  "ceph", "glusterfs", "lustre", "afs"})) {
    return Keeping::remote;
  }
  return Keeping::unknown;
}

FileSystemFacts find_mount(std::string_view mounts, std::string_view path) {
  FileSystemFacts found;
  while (!mounts.empty()) {
    const auto end = std::min(mounts.find('\n'), mounts.size());
    std::string_view line = mounts.substr(0, end);
    mounts.remove_prefix(std::min(end + 1, mounts.size()));
    take_word(line);  // The device.
    const std::string mount_point = take_word(line);
    if (mount_point.empty() || !lies_under(path, mount_point)) continue;
    if (mount_point.size() < found.mount_point.size()) continue;
    found.mount_point = mount_point;
    found.type = take_word(line);
  }
  return found;
}

FileSystemFacts file_system_of(const std::string& path) {
  std::ifstream file("/proc/self/mounts", std::ios::binary);
  const std::string mounts(std::istreambuf_iterator<char>(file), {});
  FileSystemFacts facts = find_mount(mounts, whole_path(path));
  struct ::statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) throw_io_error(errno, "look at", path);
  facts.size_bytes = static_cast<std::uint64_t>(space.f_blocks) * space.f_frsize;
  facts.free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  return facts;
}

bool lock_keeps_others_out(const std::string& path) {
  const auto mine = PosixDisk().try_lock(path);
  if (mine == nullptr) throw IoError("cannot lock " + path + ": somebody else holds it");
  const ::pid_t child = ::fork();
  if (child < 0) throw_io_error(errno, "start another process to lock", path);
  if (child == 0) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_kept_out = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::_exit(is_kept_out ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw_io_error(errno, "wait for the process that locks", path);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace millrace::posix
