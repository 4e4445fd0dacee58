#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/env/env.hpp"

namespace millrace {

/// What one reading gave.
template <class T>
struct Reading {
  enum class Then : std::uint8_t {
    more,  ///< There is more.
    wait,  ///< There is nothing now; the task is unparked when there is.
    end,   ///< There will never be more.
  };
  std::span<const T>
      rows;  ///< Lent until the next call: nobody copies a row before the first exchange.
  Then then = Then::more;
};

/// Reads one partition.
template <class T>
class SourceReader {
 public:
  virtual ~SourceReader() = default;

  /// The next rows, at most `most`. Does not wait.
  ///
  /// Throws JobFailed naming partition, line and field: a record cannot be read, and the job did
  /// not say to skip it.
  virtual Reading<T> next(std::size_t most) = 0;

  /// Where reading goes on behind the rows given so far.
  virtual Position position() const = 0;
  /// How many bad records were passed over since `open`.
  virtual std::uint64_t skipped() const = 0;
};

/// An input, described: where its partitions are, and how to read one.
///
/// A source of one's own is one of these: text_lines (lines.hpp) shows how.
template <class T>
struct Source {
  std::string kind;  ///< For people: "jsonl".
  /// What LogReader::partitions is asked for, once, before the first checkpoint.
  std::string address;
  /// Instead of the log, for input that lies in none: which partitions there are, sorted by name.
  /// Asked at every takeover, and must say the same each time.
  std::function<std::vector<PartitionFacts>(Env& env)> partitions;
  std::function<std::unique_ptr<SourceReader<T>>(Env& env, const std::string& partition,
                                                 Position from, std::int64_t end)>
      open;
};

}  // namespace millrace
