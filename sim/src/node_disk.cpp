#include "node_disk.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"

#include "device.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

DiskUse try_use(Task& task, DiskOperation operation, std::uint64_t what,
                bool makes_longer = false) {
  task.check_alive();
  const DiskUse use = use_disk(task, operation, what, makes_longer);
  if (use == DiskUse::dead) throw Killed{};
  return use;
}

[[noreturn]] void fail(Task& task, DiskUse use) {
  const std::string& node = task.node().name;
  if (use == DiskUse::full) throw NoSpace(fmt::format("the disk of {} is full", node));
  throw IoError(fmt::format("the disk of {} fails", node));
}

void use(Task& task, DiskOperation operation, std::uint64_t what) {
  const DiskUse use = try_use(task, operation, what);
  if (use != DiskUse::done) fail(task, use);
}

class SimFile final : public File {
 public:
  SimFile(Task& task, SimDisk::Found inode) : task_(task), inode_(std::move(inode)) {}

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) override {
    task_.check_alive();
    if (read_fails(task_.node())) fail(task_, DiskUse::failed);
    return inode_->read(offset, into);
  }
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const bool makes_longer = offset + bytes.size() > inode_->size();
    const DiskUse use =
        try_use(task_, DiskOperation::write, offset ^ bytes.size() << 40, makes_longer);
    if (use == DiskUse::failed) {
      bytes = bytes.first(task_.node().disk.draw_written_part(bytes.size()));
    }
    if (use != DiskUse::full) inode_->write(offset, bytes);
    if (use != DiskUse::done) fail(task_, use);
  }
  void sync() override {
    use(task_, DiskOperation::sync, inode_->size());
    inode_->sync();
  }
  std::uint64_t size_bytes() override {
    task_.check_alive();
    return inode_->size();
  }

 private:
  Task& task_;
  SimDisk::Found inode_;
};

class SimFileLock final : public FileLock {
 public:
  SimFileLock(Task& task, std::string path)
      : node_(task.node()), life_(task.life()), path_(std::move(path)) {}
  ~SimFileLock() override {
    if (life_ == node_.life && node_.process_is_up()) node_.disk.unlock(path_);
  }

 private:
  Node& node_;
  std::uint32_t life_;
  std::string path_;
};

}  // namespace

std::unique_ptr<File> NodeDisk::open(std::string_view path, Open how) {
  task_.check_alive();
  SimDisk& disk = task_.node().disk;
  SimDisk::Found inode = disk.find(path);
  if (how == Open::create) {
    use(task_, DiskOperation::open, hash_name(path));
    inode = disk.create(path);
    if (inode == nullptr) throw NotFound(fmt::format("{}: there is no such directory", path));
    inode->truncate(0);
  } else if (inode == nullptr) {
    throw NotFound(fmt::format("{}: there is no such file", path));
  }
  return std::make_unique<SimFile>(task_, std::move(inode));
}

void NodeDisk::rename(std::string_view from, std::string_view to) {
  use(task_, DiskOperation::rename, hash_name(to));
  if (!task_.node().disk.rename(from, to)) {
    throw NotFound(fmt::format("{}: there is no such file, or no directory for {}", from, to));
  }
}

void NodeDisk::remove(std::string_view path) {
  use(task_, DiskOperation::remove, hash_name(path));
  task_.node().disk.remove(path);
}

std::vector<std::string> NodeDisk::list(std::string_view directory) {
  task_.check_alive();
  return task_.node().disk.list(directory);
}

void NodeDisk::make_directory(std::string_view directory) {
  use(task_, DiskOperation::sync_directory, hash_name(directory));
  task_.node().disk.make_directory(directory);
}

void NodeDisk::sync_directory(std::string_view directory) {
  use(task_, DiskOperation::sync_directory, hash_name(directory));
  task_.node().disk.sync_directory(directory);
}

std::unique_ptr<FileLock> NodeDisk::try_lock(std::string_view path) {
  task_.check_alive();
  if (!task_.node().disk.lock(path)) return nullptr;
  return std::make_unique<SimFileLock>(task_, std::string(path));
}

}  // namespace millrace::sim
