#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/instant.hpp"
#include "millrace/env/parker.hpp"

namespace millrace {

/// Where reading of a partition goes on: the byte offset of the next entry, and the number of its
/// line, from 1.
struct Position {
  std::int64_t offset = 0;
  std::int64_t line = 1;
  friend constexpr auto operator<=>(Position, Position) = default;
};

/// How much of a partition's beginning tells it from another.
inline constexpr std::int64_t hashed_head_bytes = 4096;

/// A partition as it is found when a job starts.
struct PartitionFacts {
  std::string name;      ///< Unique among the partitions of a log, and how they are sorted.
  std::int64_t end = 0;  ///< The position behind the last entry there is now.
  std::uint64_t head_hash =
      0;  ///< XXH3 of the first `hashed_head_bytes`, or of all if there is less.
};

/// One entry, as it was written.
struct LogEntry {
  std::string_view bytes;  ///< Lent until the next read; 64 bytes behind it may be read, not used.
  Position at;             ///< Where it begins.
  Position next;           ///< Where reading goes on behind it.
};

/// Reads one partition, forward.
class PartitionReader {
 public:
  virtual ~PartitionReader() = default;

  /// The next entries, at most `most`. Empty: there is nothing now, or `at_end`.
  ///
  /// Throws JobFailed: an entry is longer than 1 MiB. WorldError, Killed.
  virtual std::span<const LogEntry> try_read(std::size_t most) = 0;

  /// Whether every entry up to the end that was given to `open` has been read.
  virtual bool at_end() const = 0;

  /// Names the task that reads: unparked when there is something to read.
  virtual void bind(Parker& reader) = 0;
};

/// A partitioned, replayable input. Entries of a partition keep their order and their positions.
class LogReader {
 public:
  virtual ~LogReader() = default;

  /// The partitions at `address`, sorted by name. For files, a path whose last part may hold `*`.
  /// Throws UsageError: there is none, or one cannot be read.
  virtual std::vector<PartitionFacts> partitions(const std::string& address, Instant deadline) = 0;

  /// A reader of the entries in [from, end).
  virtual std::unique_ptr<PartitionReader> open(const std::string& address,
                                                const std::string& partition, Position from,
                                                std::int64_t end) = 0;
};

}  // namespace millrace
