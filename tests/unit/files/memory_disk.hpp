#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/disk.hpp"

namespace millrace {

/// A disk in memory that takes the contract of Disk literally: it fails or dies at the call it is
/// told, and a power loss takes away whatever was not synced.
class MemoryDisk final : public Disk {
 public:
  /// Where in a call it happens: nothing was done, half of a write, or all of it.
  enum class Moment : std::uint8_t { before, halfway, after };

  /// What a power loss keeps of what was not synced.
  struct Loss {
    enum class Data : std::uint8_t { all, every_other_sector, none };
    std::size_t kept_names;  ///< So many of the changes of names, the earliest.
    Data kept_data;
  };

  /// The `k`th call from now, from 1, throws IoError; those after it work.
  void fail_at(std::uint64_t k, Moment moment) { strike_at(k, moment, false); }
  /// The `k`th call from now throws Killed, and so does every later one until `restart`.
  void die_at(std::uint64_t k, Moment moment) { strike_at(k, moment, true); }
  bool is_dead() const { return dead_; }

  /// The machine comes back with what a power loss has left.
  void lose_power(Loss loss);
  /// The process comes back; nothing was lost.
  void restart();

  /// Changes of names that were not synced yet.
  std::size_t unsynced_names() const { return changes_.size(); }

  const std::vector<std::size_t>& write_sizes() const { return write_sizes_; }
  bool has_file(const std::string& path) const { return visible_.contains(path); }
  /// Changes a file's bytes behind everybody's back, durably.
  void put_file(const std::string& path, std::string_view text);
  std::vector<std::string> files() const;

  std::unique_ptr<File> open(std::string_view path, Open how) override;
  void rename(std::string_view from, std::string_view to) override;
  void remove(std::string_view path) override;
  std::vector<std::string> list(std::string_view directory) override;
  void make_directory(std::string_view directory) override;
  void sync_directory(std::string_view directory) override;
  std::unique_ptr<FileLock> try_lock(std::string_view path) override;

 private:
  class OpenFile;
  class HeldLock;
  struct Content {
    Bytes written;
    Bytes synced;
  };
  using Names = std::map<std::string, std::shared_ptr<Content>, std::less<>>;
  struct Change {
    std::string directory;
    std::vector<std::pair<std::string, std::shared_ptr<Content>>> names;  ///< Null: no such name.
  };

  void strike_at(std::uint64_t k, Moment moment, bool deadly);
  void strike();
  /// One call: `effect` happens unless the call is to fail before.
  template <class Effect>
  auto call(Effect effect);
  void change(Change what);
  static void apply(const Change& change, Names& names);

  Names visible_;
  Names durable_;
  std::vector<Change> changes_;
  std::set<std::string, std::less<>> directories_;
  std::shared_ptr<std::set<std::string>> locked_ = std::make_shared<std::set<std::string>>();
  std::vector<std::size_t> write_sizes_;
  std::uint64_t calls_ = 0;
  std::uint64_t strike_call_ = 0;
  Moment moment_ = Moment::before;
  bool deadly_ = false;
  bool dead_ = false;
};

}  // namespace millrace
