#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// An open file.
///
/// Bytes pass two gates. After `write_at` they can be read, also by others; after `sync` they
/// outlive a loss of power. The death of the process alone loses nothing that was written. A power
/// loss before the sync keeps any of the written sectors and loses the others, whatever their
/// order, and may tear the one that was being written; length is kept or lost in the same way.
/// A name is a third gate, see Disk.
class File {
 public:
  virtual ~File() = default;  ///< Closes without syncing.

  /// Reads up to `into.size()` bytes at `offset`. Returns how many there were; fewer only at the
  /// end. Throws IoError.
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) = 0;

  /// Writes all of `bytes`, growing the file as needed.
  /// Throws NoSpace: nothing was written. IoError: any part may have been.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;

  /// Waits until all that was written to the file, by whomever, would outlive a loss of power.
  ///
  /// Throws IoError: nobody knows what is safe, and trying again would lie. The file must be given
  /// up; what matters is written anew under another name.
  virtual void sync() = 0;

  virtual std::uint64_t size_bytes() = 0;
};

/// Held until it goes away or the process dies, whichever is first.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// Files and directories of a node. Paths are separated by `/`.
///
/// A file's name is durable only after `sync_directory` of the directory that holds it; until then
/// a power loss may undo a creation, a rename or a removal, the latest first. A rename is atomic:
/// the name denotes the old or the new file, never neither.
///
/// Calls wait for the device as long as it takes; there are no deadlines.
/// All throw IoError, and Killed in the simulator.
class Disk {
 public:
  virtual ~Disk() = default;

  enum class Open : std::uint8_t {
    read,    ///< Must exist; is not written.
    write,   ///< Must exist.
    create,  ///< Made if it is not there, else emptied.
  };
  /// Throws NotFound.
  virtual std::unique_ptr<File> open(std::string_view path, Open how) = 0;

  /// Gives the file another name, replacing what had it.
  virtual void rename(std::string_view from, std::string_view to) = 0;
  /// Removes a file. It is no error if there is none.
  virtual void remove(std::string_view path) = 0;
  /// Names in a directory, sorted; directories end with `/`. Empty if there is no such directory.
  virtual std::vector<std::string> list(std::string_view directory) = 0;
  /// Makes a directory and those above it, durably. It is no error if it exists.
  virtual void make_directory(std::string_view directory) = 0;
  virtual void sync_directory(std::string_view directory) = 0;

  /// Locks `path`, creating it if needed, or returns null when somebody holds it, another process
  /// included.
  virtual std::unique_ptr<FileLock> try_lock(std::string_view path) = 0;
};

}  // namespace millrace
