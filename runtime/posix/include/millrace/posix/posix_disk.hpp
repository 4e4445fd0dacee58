#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/disk.hpp"

namespace millrace::posix {

/// Files of the operating system. Relative paths are relative to the working directory.
///
/// Keeps Disk's contract as far as the file system below does: `sync` and `sync_directory` are
/// fsync. Any number of tasks may use it. The text of every error names the path and the reason.
class PosixDisk final : public Disk {
 public:
  /// Also throws IoError for a directory.
  std::unique_ptr<File> open(std::string_view path, Open how) override;
  void rename(std::string_view from, std::string_view to) override;
  void remove(std::string_view path) override;
  std::vector<std::string> list(std::string_view directory) override;
  void make_directory(std::string_view directory) override;
  void sync_directory(std::string_view directory) override;

  /// The lock belongs to the process and to those that it forks; the kernel frees it when the last
  /// of them ends, however that happens. Its file stays and says who had it last.
  std::unique_ptr<FileLock> try_lock(std::string_view path) override;
};

/// Who has, or last had, a lock that was taken by `try_lock`:
/// `process 4711 on river, since 2026-03-01T12:00:00.250Z`. Nothing: there is no such file, or its
/// owner has not yet written.
std::optional<std::string> lock_owner(std::string_view path);

/// Whether somebody holds that lock at this moment. Takes it for another moment if not, so that who
/// tries it just then is told that it is held, and should ask again.
/// Throws IoError. A lock whose file is not there is held by nobody.
bool is_locked(std::string_view path);

}  // namespace millrace::posix
