#include "millrace/posix/posix_disk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "millrace/env/error.hpp"
#include "millrace/posix/real_clock.hpp"

#include "descriptor.hpp"
#include "iso_time.hpp"
#include "system_error.hpp"

namespace millrace::posix {
namespace {

constexpr ::mode_t file_mode = 0666;       // Less what the user's mask takes away.
constexpr ::mode_t directory_mode = 0777;  // The same.

/// Repeats a call for as long as signals interrupt it.
template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto count = retried([&] {
        return ::pread(file_.number(), into.data() + done, into.size() - done,
                       static_cast<::off_t>(offset + done));
      });
      if (count < 0) throw_io_error(errno, "read", path_);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto count = retried([&] {
        return ::pwrite(file_.number(), bytes.data() + done, bytes.size() - done,
                        static_cast<::off_t>(offset + done));
      });
      if (count < 0) {
        // NoSpace promises that nothing was written.
        if (done == 0) throw_io_error(errno, "write", path_);
        throw IoError(fmt::format("cannot write {}: {}, after {} of {} bytes", path_,
                                  error_text(errno), done, bytes.size()));
      }
      done += static_cast<std::size_t>(count);
    }
  }

  void sync() override {
    // Not repeated, whatever the error: the kernel may have dropped the pages it failed to write.
    if (::fsync(file_.number()) != 0) throw_io_error(errno, "sync", path_);
  }

  std::uint64_t size_bytes() override {
    struct ::stat found {};
    if (::fstat(file_.number(), &found) != 0) throw_io_error(errno, "look at", path_);
    return static_cast<std::uint64_t>(found.st_size);
  }

 private:
  Descriptor file_;
  std::string path_;
};

class PosixLock final : public FileLock {
 public:
  explicit PosixLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

int flags_of(Disk::Open how) {
  switch (how) {
    case Disk::Open::read: return O_RDONLY | O_CLOEXEC;
    case Disk::Open::write: return O_RDWR | O_CLOEXEC;
    case Disk::Open::create: break;
  }
  return O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
}

bool is_directory(int file) {
  struct ::stat found {};
  return ::fstat(file, &found) == 0 && S_ISDIR(found.st_mode);
}

Descriptor open_directory(const std::string& path) {
  return Descriptor(
      retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

std::string parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::string_view without_slashes_behind(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// Makes the entry of `directory` in the one above it durable. One that we may not even read is not
/// where we have made anything.
void sync_entry_of(const std::string& directory) {
  const auto parent = open_directory(parent_of(directory));
  if (!parent.is_open() && (errno == EACCES || errno == EPERM)) return;
  if (!parent.is_open() || ::fsync(parent.number()) != 0) {
    throw_io_error(errno, "sync the directory of", directory);
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "an unknown host";
  return name.data();
}

bool names_a_directory(const ::dirent& entry, const std::string& directory) {
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) return entry.d_type == DT_DIR;
  struct ::stat found {};
  const auto path = fmt::format("{}/{}", directory, entry.d_name);
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

std::unique_ptr<File> PosixDisk::open(std::string_view path, Open how) {
  std::string name(path);
  Descriptor file(retried([&] { return ::open(name.c_str(), flags_of(how), file_mode); }));
  if (!file.is_open()) throw_io_error(errno, how == Open::create ? "create" : "open", path);
  if (is_directory(file.number())) throw_io_error(EISDIR, "open", path);
  return std::make_unique<PosixFile>(std::move(file), std::move(name));
}

void PosixDisk::rename(std::string_view from, std::string_view to) {
  if (::rename(std::string(from).c_str(), std::string(to).c_str()) != 0) {
    throw_io_error(errno, "rename", fmt::format("{} to {}", from, to));
  }
}

void PosixDisk::remove(std::string_view path) {
  if (::unlink(std::string(path).c_str()) != 0 && errno != ENOENT) {
    throw_io_error(errno, "remove", path);
  }
}

std::vector<std::string> PosixDisk::list(std::string_view directory) {
  const std::string path(directory);
  const std::unique_ptr<::DIR, int (*)(::DIR*)> open(::opendir(path.c_str()), &::closedir);
  if (open == nullptr) {
    if (errno == ENOENT) return {};
    throw_io_error(errno, "list", path);
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const ::dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names_a_directory(*entry, path)) name += '/';
    names.push_back(std::move(name));
  }
  if (errno != 0) throw_io_error(errno, "list", path);
  std::ranges::sort(names);
  return names;
}

void PosixDisk::make_directory(std::string_view directory) {
  const std::string path(without_slashes_behind(directory));
  if (path.empty() || path == "/" || path == ".") return;
  if (::mkdir(path.c_str(), directory_mode) != 0) {
    if (errno == ENOENT) {
      make_directory(parent_of(path));
      if (::mkdir(path.c_str(), directory_mode) != 0 && errno != EEXIST) {
        throw_io_error(errno, "make the directory", path);
      }
    } else if (errno != EEXIST) {
      throw_io_error(errno, "make the directory", path);
    } else if (!open_directory(path).is_open() && errno == ENOTDIR) {
      throw_io_error(EEXIST, "make the directory", path);
    }
  }
  // Also when it was there: whoever made it may have died before this. One level is enough, because
  // the next is made only after the sync of the last.
  sync_entry_of(path);
}

void PosixDisk::sync_directory(std::string_view directory) {
  const auto open = open_directory(std::string(directory));
  if (!open.is_open() || ::fsync(open.number()) != 0) {
    throw_io_error(errno, "sync the directory", directory);
  }
}

std::unique_ptr<FileLock> PosixDisk::try_lock(std::string_view path) {
  const std::string name(path);
  Descriptor file(
      retried([&] { return ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, file_mode); }));
  if (!file.is_open()) throw_io_error(errno, "open", path);
  if (retried([&] { return ::flock(file.number(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno == EWOULDBLOCK) return nullptr;
    throw_io_error(errno, "lock", path);
  }
  const auto owner = fmt::format("process {} on {}, since {}\n", ::getpid(), host_name(),
                                 iso_time(RealClock().wall()));
  // For people only, so neither an error nor a power loss matters; the lock is held without it.
  if (::ftruncate(file.number(), 0) == 0) {
    [[maybe_unused]] const auto count = ::pwrite(file.number(), owner.data(), owner.size(), 0);
  }
  return std::make_unique<PosixLock>(std::move(file));
}

std::optional<std::string> lock_owner(std::string_view path) {
  const Descriptor file(
      retried([&] { return ::open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) return std::nullopt;
  std::array<char, 512> text{};
  const auto count = retried([&] { return ::read(file.number(), text.data(), text.size()); });
  if (count <= 0) return std::nullopt;
  const std::string_view line(text.data(), static_cast<std::size_t>(count));
  const auto end = line.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

bool is_locked(std::string_view path) {
  const Descriptor file(
      retried([&] { return ::open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open() && errno == ENOENT) return false;
  if (!file.is_open()) throw_io_error(errno, "open", path);
  if (retried([&] { return ::flock(file.number(), LOCK_SH | LOCK_NB); }) == 0) return false;
  if (errno != EWOULDBLOCK) throw_io_error(errno, "look at the lock", path);
  return true;
}

}  // namespace millrace::posix
