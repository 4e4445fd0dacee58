#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/sim/draws.hpp"

namespace millrace::sim {

/// A file on a simulated disk: what a reader sees, and what a power loss could leave of it.
class Inode {
 public:
  Inode() = default;
  /// A file of these bytes, which are durable.
  explicit Inode(std::span<const std::byte> bytes)
      : seen_(bytes.begin(), bytes.end()), durable_(seen_) {}

  std::size_t size() const { return seen_.size(); }
  std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void truncate(std::uint64_t size);
  void sync();

  /// Turns what is seen into what a power loss leaves: the synced bytes, and of the later writes
  /// what `draws` lets survive (DISK.md).
  void lose_power(Draws& draws);

  /// Whether a power loss could take anything away.
  bool is_synced() const { return pending_.empty(); }

 private:
  struct Change {
    std::uint64_t offset;
    std::size_t size;   ///< Of the bytes; for a truncation unused.
    std::size_t bytes;  ///< Where they are in `written_`.
    bool truncates;
  };
  void apply(Bytes& to, const Change& change, std::size_t kept) const;

  Bytes seen_;
  Bytes durable_;
  std::vector<Change> pending_;  ///< Since the last sync, in order.
  Bytes written_;
};

/// A disk of a simulated node: files, names, and the difference between written and durable.
///
/// Keeps its promises to the letter and nothing beyond them (env/disk.hpp, DISK.md). No time passes
/// here; see NodeDisk for that.
class SimDisk {
 public:
  explicit SimDisk(Draws draws) : draws_(std::move(draws)) {}

  using Found = std::shared_ptr<Inode>;  ///< Null: no such file.
  Found find(std::string_view path) const;
  /// The file of that name, made if there is none. Null: there is no directory for it.
  Found create(std::string_view path);
  /// False: there is no file `from`, or no directory for `to`.
  bool rename(std::string_view from, std::string_view to);
  bool remove(std::string_view path);
  std::vector<std::string> list(std::string_view directory) const;
  /// Makes a directory and those above it, durably.
  void make_directory(std::string_view directory);
  void sync_directory(std::string_view directory);

  /// Puts a file there as if it had always been: durable, with a durable name.
  void install(std::string_view path, std::span<const std::byte> bytes);

  bool lock(std::string_view path);
  void unlock(std::string_view path);

  /// The processes that used the disk are gone; what they wrote is not.
  void release_locks() { locks_.clear(); }
  /// Everything that was not durable is at the mercy of `draws`.
  void lose_power();
  /// How much of a write that fails takes place all the same.
  std::size_t draw_written_part(std::size_t size);

 private:
  using Names = std::map<std::string, Found, std::less<>>;
  struct NameChange {
    std::string from;  ///< Empty: a creation.
    std::string to;    ///< Empty: a removal.
    Found inode;
  };
  bool has_directory_of(std::string_view path) const;
  static void apply(Names& names, const NameChange& change);

  Draws draws_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange>
      pending_;  ///< Name changes that no directory sync made durable, in order.
  std::set<std::string, std::less<>> directories_;  ///< Besides the root. Durable.
  std::set<std::string, std::less<>> locks_;
};

}  // namespace millrace::sim
