#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/env/disk.hpp"
#include "millrace/env/log.hpp"

namespace millrace {

/// The longest line that is read, without its end.
inline constexpr std::size_t longest_line_bytes = std::size_t{1} << 20;

/// Text files as a log: a file is a partition, a line is an entry.
///
/// An address is a path. Its last part may hold `*` (any characters) and `?` (one), which do not
/// stand for the dot of a hidden file. A partition has the name of its file, without directories.
///
/// Lines end with LF or CRLF, which is not part of the entry. Lines of spaces and tabs are counted
/// and passed over, so is a byte order mark at the file's start. A last line without an end is an
/// entry like any other. What lies behind the end that `open` was given does not exist, even in the
/// middle of a line.
///
/// Files are taken to be there and to grow at most: readers never have to wait for entries, and
/// deadlines are ignored as in every use of a disk.
class FileLog final : public LogReader {
 public:
  explicit FileLog(Disk& disk) : disk_(disk) {}

  /// Throws UsageError naming the path: no file fits, there is none, or why it cannot be read.
  std::vector<PartitionFacts> partitions(const std::string& address, Instant deadline) override;

  /// Throws WorldError, now or from `try_read`: the file is gone or shorter than `end`.
  std::unique_ptr<PartitionReader> open(const std::string& address, const std::string& partition,
                                        Position from, std::int64_t end) override;

 private:
  Disk& disk_;
};

}  // namespace millrace
