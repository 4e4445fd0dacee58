#pragma once

#include "millrace/env/disk.hpp"

namespace millrace::sim {

class Task;

/// The disk of a node, as one of its tasks uses it: takes time, and does nothing for the dead.
class NodeDisk final : public Disk {
 public:
  explicit NodeDisk(Task& task) : task_(task) {}

  std::unique_ptr<File> open(std::string_view path, Open how) override;
  void rename(std::string_view from, std::string_view to) override;
  void remove(std::string_view path) override;
  std::vector<std::string> list(std::string_view directory) override;
  void make_directory(std::string_view directory) override;
  void sync_directory(std::string_view directory) override;
  std::unique_ptr<FileLock> try_lock(std::string_view path) override;

 private:
  Task& task_;
};

}  // namespace millrace::sim
