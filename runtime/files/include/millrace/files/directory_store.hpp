#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/disk.hpp"
#include "millrace/env/object_store.hpp"

namespace millrace {

/// An object store made of the files of one directory (STORE.md).
///
/// What is written becomes visible by a rename, after the file was synced, and is `stored` once
/// the directory was synced too. So a crash at any moment leaves an object whole or absent and a
/// register old or new; besides that it can leave temporary files, which `remove_temporaries` takes
/// away.
///
/// Deadlines are ignored: a local disk answers when it answers, and there is nobody else to ask.
/// An error before the rename throws and nothing has become visible; one at the rename or later is
/// the outcome `unknown`.
///
/// Any number of tasks may use a store at the same time, and any number of processes a directory.
/// A store outlives the writers that it made.
class DirectoryStore final : public ObjectStore {
 public:
  /// `writer` goes into the names of temporary files: no two processes that write into `directory`
  /// share one. The directory is made when something is first written.
  DirectoryStore(Disk& disk, std::string directory, std::string writer);

  /// Does not touch the disk: the temporary file is made when 64 KiB have come together, or by
  /// `commit`. All functions throw UsageError for a name that no object can have.
  std::unique_ptr<ObjectWriter> create(std::string_view name) override;

  std::optional<Bytes> read(std::string_view name, std::uint64_t offset, std::uint64_t length,
                            Instant deadline) override;
  Versioned read_register(std::string_view name, Instant deadline) override;

  /// Also `unknown` while somebody else is changing the register; nothing was written then.
  /// An earlier attempt of the same caller that did succeed makes this one `refused`.
  /// Throws CorruptObject: what is there cannot be compared with; it was left as it is.
  SwapOutcome put_if_version(std::string_view name, std::uint64_t expected,
                             std::span<const std::byte> bytes, Instant deadline) override;

  /// A power loss may bring the object back, until a listing was without it.
  void remove(std::string_view name, Instant deadline) override;

  /// Complete at once, unlike what the seam allows. Files with other names than objects can have
  /// are passed over.
  std::vector<std::string> list(std::string_view prefix, Instant deadline) override;

  /// Removes what writers of any process left behind. For the owner of the directory, at its start:
  /// a writer that is still at work loses its file, and its `commit` fails.
  void remove_temporaries();

 private:
  class Writer;

  std::string path_of(std::string_view name) const;
  std::string temporary_path(std::string_view path);
  void make_directory_of(std::string_view path);
  std::optional<Bytes> read_file(const std::string& path);
  bool make_visible(const std::string& temporary, const std::string& path);
  void collect(std::string_view under, std::string_view prefix, std::vector<std::string>& into);
  std::vector<std::string> list_directory(const std::string& directory);
  void remove_temporaries_under(const std::string& directory);
  void abandon(std::string temporary) noexcept;
  void remove_abandoned();

  Disk& disk_;
  std::string directory_;
  std::string writer_;
  std::atomic<std::uint64_t> temporaries_ = 0;
  std::mutex mutex_;  ///< Of what follows; never held during a call to the disk.
  std::set<std::string, std::less<>> made_directories_;
  std::vector<std::string> abandoned_;
};

}  // namespace millrace
