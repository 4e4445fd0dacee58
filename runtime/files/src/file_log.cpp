#include "millrace/files/file_log.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/env/invariant.hpp"

#include "glob.hpp"

namespace millrace {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
constexpr std::size_t head_bytes = 4096;
/// What may be read behind an entry (LogEntry); parsers read whole vectors.
constexpr std::size_t padding_bytes = 64;
/// A line that is not whole with so many bytes is too long, whichever end it has.
constexpr std::size_t longest_line_with_end = longest_line_bytes + 2;
// So a line that is too long is the first in the buffer, and nothing was read with it.
static_assert(chunk_bytes < longest_line_bytes);
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The parts of an address: `data/` and `*.jsonl`.
struct Address {
  explicit Address(std::string_view address) {
    const auto slash = address.rfind('/');
    const auto cut = slash == std::string_view::npos ? 0 : slash + 1;
    directory = address.substr(0, cut);
    pattern = address.substr(cut);
  }
  std::string path_of(std::string_view partition) const {
    return fmt::format(FMT_COMPILE("{}{}"), directory, partition);
  }
  /// In the words of Disk: without the slash at its end.
  std::string directory_path() const {
    if (directory.empty()) return ".";
    return std::string(directory.substr(0, std::max<std::size_t>(directory.size() - 1, 1)));
  }
  std::string_view directory;
  std::string_view pattern;
};

bool has_wildcard(std::string_view text) { return text.find_first_of("*?") != text.npos; }

std::vector<std::string> list(Disk& disk, const std::string& directory) {
  try {
    return disk.list(directory);
  } catch (const IoError& error) {
    throw UsageError(fmt::format("`{}` cannot be read: {}", directory, error.what()));
  }
}

std::vector<std::string> names_at(Disk& disk, const std::string& text) {
  const Address address(text);
  if (has_wildcard(address.directory)) {
    throw UsageError(
        fmt::format("`{}`: `*` and `?` are expected only in the last part of a path", text));
  }
  if (!has_wildcard(address.pattern)) return {std::string(address.pattern)};
  std::vector<std::string> names;
  for (auto& name : list(disk, address.directory_path())) {
    if (!name.ends_with('/') && glob_fits(address.pattern, name)) names.push_back(std::move(name));
  }
  if (names.empty()) throw UsageError(fmt::format("`{}`: there is no file of such a name", text));
  std::ranges::sort(names);
  return names;
}

PartitionFacts facts_of(Disk& disk, const std::string& path, std::string name) {
  try {
    const auto file = disk.open(path, Disk::Open::read);
    Bytes head(head_bytes);
    head.resize(file->read_at(0, head));
    return {std::move(name), static_cast<std::int64_t>(file->size_bytes()), checksum(head)};
  } catch (const NotFound&) {
    throw UsageError(fmt::format("`{}`: there is no such file", path));
  } catch (const IoError& error) {
    throw UsageError(fmt::format("`{}` cannot be read: {}", path, error.what()));
  }
}

bool is_blank(std::string_view line) {
  if (line.empty()) return true;
  if (line.front() != ' ' && line.front() != '\t') return false;
  return line.find_first_not_of(" \t") == line.npos;
}

/// Reads a file in chunks and lends the lines out of its buffer. An unfinished line at the end of a
/// chunk moves to the buffer's front before the next chunk is read behind it.
class FileReader final : public PartitionReader {
 public:
  FileReader(std::unique_ptr<File> file, std::string path, Position from, std::int64_t end)
      : file_(std::move(file)), path_(std::move(path)), position_(from), end_(end) {
    const auto size = file_->size_bytes();
    if (size < static_cast<std::uint64_t>(end)) throw_shorter(size);
  }

  std::span<const LogEntry> try_read(std::size_t most) override {
    entries_.clear();
    while (entries_.size() < most) {
      take_whole_lines(most);
      if (entries_.size() == most) break;
      if (is_all_read()) {
        if (unread() != 0) take_line(unread(), 0);
        break;
      }
      // What was found is lent out of the buffer, so the buffer stays as it is until the next call.
      if (!entries_.empty()) break;
      read_chunk();
    }
    return entries_;
  }

  bool at_end() const override { return position_.offset >= end_; }

  void bind(Parker& reader) override {
    if (!at_end()) reader.unpark();
  }

 private:
  std::size_t unread() const { return filled_ - begin_; }
  bool is_all_read() const {
    return position_.offset + static_cast<std::int64_t>(unread()) >= end_;
  }

  void take_whole_lines(std::size_t most) {
    while (entries_.size() < most && searched_ < filled_) {
      const char* from = buffer_.get() + searched_;
      const auto* newline = static_cast<const char*>(std::memchr(from, '\n', filled_ - searched_));
      if (newline == nullptr) {
        searched_ = filled_;
        break;
      }
      take_line(static_cast<std::size_t>(newline - (buffer_.get() + begin_)), 1);
    }
    if (searched_ == filled_ && unread() > longest_line_with_end) throw_too_long();
  }

  /// Takes the line of `length` bytes at the front, which has an end of `end_bytes` behind it.
  void take_line(std::size_t length, std::size_t end_bytes) {
    std::string_view line(buffer_.get() + begin_, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > longest_line_bytes) [[unlikely]] {
      throw_too_long();
    }
    const Position next{position_.offset + static_cast<std::int64_t>(length + end_bytes),
                        position_.line + 1};
    if (!is_blank(line)) entries_.push_back({line, position_, next});
    position_ = next;
    begin_ += length + end_bytes;
    searched_ = begin_;
  }

  void read_chunk() {
    if (buffer_ == nullptr) {
      // Only the pages that are written take memory, and few files have lines of a megabyte.
      const auto all = static_cast<std::size_t>(end_ - position_.offset);
      buffer_ = std::make_unique_for_overwrite<char[]>(
          std::min(longest_line_with_end + chunk_bytes, all) + padding_bytes);
    }
    const auto kept = unread();
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
    begin_ = 0;
    searched_ = filled_ = kept;
    const auto offset = static_cast<std::uint64_t>(position_.offset) + kept;
    const auto wanted =
        std::min<std::uint64_t>(chunk_bytes, static_cast<std::uint64_t>(end_) - offset);
    const auto count =
        file_->read_at(offset, std::as_writable_bytes(std::span(buffer_.get() + kept, wanted)));
    if (count < wanted) throw_shorter(offset + count);
    filled_ = kept + count;
    std::memset(buffer_.get() + filled_, 0, padding_bytes);
    if (offset == 0 && std::string_view(buffer_.get(), filled_).starts_with(byte_order_mark)) {
      begin_ = searched_ = byte_order_mark.size();
      position_.offset += static_cast<std::int64_t>(byte_order_mark.size());
    }
  }

  [[noreturn]] void throw_shorter(std::uint64_t size) const {
    throw WorldError(fmt::format("{}: it ends at byte {}; when the job started it had {} bytes",
                                 path_, size, end_));
  }
  [[noreturn]] void throw_too_long() const {
    throw JobFailed(fmt::format("{}:{}: the line is longer than {} bytes",
                                std::string_view(path_).substr(path_.rfind('/') + 1),
                                position_.line, longest_line_bytes));
  }

  std::unique_ptr<File> file_;
  std::string path_;
  Position position_;  ///< Of the first byte in the buffer that is not part of an entry.
  std::int64_t end_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;     ///< Where `position_` is in the buffer.
  std::size_t searched_ = 0;  ///< There is no newline before.
  std::size_t filled_ = 0;
  std::vector<LogEntry> entries_;
};

}  // namespace

std::vector<PartitionFacts> FileLog::partitions(const std::string& address, Instant) {
  std::vector<PartitionFacts> found;
  for (auto& name : names_at(disk_, address)) {
    const auto path = Address(address).path_of(name);
    found.push_back(facts_of(disk_, path, std::move(name)));
  }
  return found;
}

std::unique_ptr<PartitionReader> FileLog::open(const std::string& address,
                                               const std::string& partition, Position from,
                                               std::int64_t end) {
  invariant(from.offset >= 0 && from.offset <= end, "a position lies within its partition");
  auto path = Address(address).path_of(partition);
  auto file = disk_.open(path, Disk::Open::read);
  return std::make_unique<FileReader>(std::move(file), std::move(path), from, end);
}

}  // namespace millrace
