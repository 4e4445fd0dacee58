#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace millrace {

/// A new empty directory, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  /// The path of a file in it.
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

std::string bytes_of(const std::string& path);
void write_file(const std::string& path, std::string_view bytes);

/// Copies a database and its log as they are now: what a process finds that is started after the
/// one that wrote them was killed.
void copy_database(const std::string& from, const std::string& to);

}  // namespace millrace
