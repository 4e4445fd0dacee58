#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millrace {

/// SQLite's own file system under another name, with somebody who watches and meddles.
///
/// Waiting is skipped, so a busy timeout passes at once.
class WatchedFiles {
 public:
  enum class Call : std::uint8_t { write, sync, truncate };
  struct Event {
    Call call;
    std::string_view path;
    bool of_log() const { return path.ends_with("-wal"); }
  };

  WatchedFiles();
  ~WatchedFiles();
  WatchedFiles(const WatchedFiles&) = delete;
  WatchedFiles& operator=(const WatchedFiles&) = delete;

  /// What SQLite calls it.
  const std::string& name() const;

  /// Asked before every call that changes or syncs a file. Another answer than 0 is given to
  /// SQLite in place of the call. May not throw.
  std::function<int(const Event&)> before;
  /// Told after every such call that was made.
  std::function<void(const Event&)> after;
  /// Told before every read. May not throw.
  std::function<void()> before_read;

  bool read_only = false;         ///< Databases that are opened from now on cannot be written.
  bool has_shared_memory = true;  ///< Files that are opened from now on can have a log.
  std::int64_t waited_ms = 0;

 private:
  struct Hooks;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace millrace
