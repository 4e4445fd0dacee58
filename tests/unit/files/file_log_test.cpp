#include "millrace/files/file_log.hpp"

#include <functional>

#include <catch2/catch.hpp>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"

#include "memory_disk.hpp"

using namespace millrace;

namespace {

constexpr Instant soon{};  // Deadlines are ignored.
constexpr std::size_t mebibyte = 1 << 20;
using Lines = std::vector<std::string>;

class CountingParker final : public Parker {
 public:
  bool park_until(Instant) override { return true; }
  void unpark() override { ++unparked; }
  void step(Site) override {}
  int unparked = 0;
};

/// A log of one file, `input/a.jsonl`.
class OneFile {
 public:
  explicit OneFile(std::string_view text) : size_(static_cast<std::int64_t>(text.size())) {
    disk.put_file("input/a.jsonl", text);
  }
  std::unique_ptr<PartitionReader> open(Position from = {}) { return open(from, size_); }
  std::unique_ptr<PartitionReader> open(Position from, std::int64_t end) {
    return log.open("input/*.jsonl", "a.jsonl", from, end);
  }

  MemoryDisk disk;
  FileLog log{disk};

 private:
  std::int64_t size_;
};

Lines lines_of(PartitionReader& reader, std::size_t most = 100) {
  Lines lines;
  while (true) {
    const auto entries = reader.try_read(most);
    REQUIRE(entries.size() <= most);
    if (entries.empty()) break;
    for (const auto& entry : entries) lines.emplace_back(entry.bytes);
  }
  CHECK(reader.at_end());
  return lines;
}

Lines lines_of(std::string_view text) { return lines_of(*OneFile(text).open()); }

template <class Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every line is an entry, whatever its end", "[files][log]") {
  CHECK(lines_of("one\ntwo\n") == Lines{"one", "two"});
  CHECK(lines_of("one\r\ntwo\r\n") == Lines{"one", "two"});
  CHECK(lines_of("one\ntwo") == Lines{"one", "two"});
  CHECK(lines_of("one\r\ntwo\r") == Lines{"one", "two"});
  CHECK(lines_of("a\rb\n") == Lines{"a\rb"});
  CHECK(lines_of(std::string_view("a\0b\n", 4)) == Lines{std::string("a\0b", 3)});
}

TEST_CASE("lines without content are no entries", "[files][log]") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n").empty());
  CHECK(lines_of("\r\n \t\n\n").empty());
  CHECK(lines_of("\n\none\n \n\t\r\ntwo\n\n\n") == Lines{"one", "two"});
  CHECK(lines_of(" one\n") == Lines{" one"});
}

TEST_CASE("a byte order mark is passed over at the file's start only", "[files][log]") {
  CHECK(lines_of("\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n") == Lines{"one", "\xEF\xBB\xBFtwo"});
  CHECK(lines_of("\xEF\xBB\xBF").empty());
}

TEST_CASE("positions count bytes and all lines, and reading goes on from each", "[files][log]") {
  const std::string text = "\xEF\xBB\xBFone\r\n\ntwo\n\n\nthree";
  OneFile file(text);
  const auto reader = file.open();
  const auto entries = reader->try_read(100);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].at == Position{3, 1});
  CHECK(entries[0].next == Position{8, 2});
  CHECK(entries[1].at == Position{9, 3});
  CHECK(entries[1].next == Position{13, 4});
  CHECK(entries[2].at == Position{15, 6});
  CHECK(entries[2].next == Position{20, 7});

  const Lines expected{"one", "two", "three"};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lines_of(*file.open(entries[i].at)) ==
          Lines(expected.begin() + std::ptrdiff_t(i), expected.end()));
    CHECK(lines_of(*file.open(entries[i].next)) ==
          Lines(expected.begin() + std::ptrdiff_t(i) + 1, expected.end()));
  }
}

TEST_CASE("a reader is at the end once no entry can follow", "[files][log]") {
  OneFile file("one\ntwo\n\n\n");
  const auto reader = file.open();
  CHECK_FALSE(reader->at_end());
  CHECK(reader->try_read(1).size() == 1);
  CHECK_FALSE(reader->at_end());
  CHECK(reader->try_read(1).size() == 1);
  CHECK_FALSE(reader->at_end());  // Nobody has looked at the blank lines yet.

  CHECK(reader->try_read(1).empty());
  CHECK(reader->at_end());
  CHECK(reader->try_read(1).empty());
  CHECK(OneFile("").open()->at_end());
}

TEST_CASE("what lies behind the given end is not read, though the file has grown", "[files][log]") {
  OneFile file("one\ntwo\nthree\n");

  CHECK(lines_of(*file.open({}, 8)) == Lines{"one", "two"});
  CHECK(lines_of(*file.open({}, 10)) == Lines{"one", "two", "th"});
}

TEST_CASE("lines are whole wherever the chunks are cut", "[files][log]") {
  // Lengths around the chunk of 256 KiB, and a prime one so that every offset in a chunk is met.
  for (const std::size_t length : {4'099U, 262'143U, 262'144U, 262'145U, 600'000U}) {
    CAPTURE(length);
    std::string text;
    Lines expected;
    for (char c = 'a'; text.size() < 3 * mebibyte; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      expected.emplace_back(length, c);
      text += expected.back() + "\r\n";
    }
    OneFile file(text);

    CHECK(lines_of(*file.open()) == expected);
    CHECK(lines_of(*file.open(), 1) == expected);
  }
}

TEST_CASE("a line end may be cut by the end of a chunk", "[files][log]") {
  for (std::size_t length = 262'140; length < 262'148; ++length) {
    CAPTURE(length);
    const std::string first(length, 'x');
    CHECK(lines_of(first + "\r\nnext\n\r\n\n") == Lines{first, "next"});
  }
}

TEST_CASE("64 bytes behind every entry can be read", "[files][log]") {
  OneFile file(std::string(1'000, 'x') + "\nlast");
  const auto reader = file.open();
  const auto entries = reader->try_read(100);
  REQUIRE(entries.size() == 2);

  // The address sanitizer sees to the rest.
  int sum = 0;
  for (const auto& entry : entries) {
    for (int i = 0; i < 64; ++i) sum += entry.bytes.data()[entry.bytes.size() + std::size_t(i)];
  }
  CHECK(sum == '\n' + 'l' + 'a' + 's' + 't');
}

TEST_CASE("a line of 1 MiB is read and a longer one is named", "[files][log]") {
  const std::string longest(mebibyte, 'x');
  for (const auto* end : {"", "\n", "\r\n", "\nnext\n"}) {
    CAPTURE(end);
    CHECK(lines_of("one\n" + longest + end).at(1) == longest);

    OneFile file("one\n\n" + longest + "x" + end);
    const auto reader = file.open();
    const auto before = reader->try_read(100);
    REQUIRE(before.size() == 1);  // What comes before it is read first.
    CHECK(before[0].bytes == "one");
    CHECK(message_of<JobFailed>([&] { reader->try_read(100); }) ==
          "a.jsonl:3: the line is longer than 1048576 bytes");
  }
}

TEST_CASE("a line without end is given up early", "[files][log]") {
  OneFile file(std::string(100 * mebibyte, 'x'));

  CHECK(says(message_of<JobFailed>([&] { file.open()->try_read(1); }), "a.jsonl:1:"));
}

TEST_CASE("a partition that is shorter than it was is named", "[files][log]") {
  OneFile file("one\ntwo\n");
  CHECK(
      says(message_of<WorldError>([&] { file.open({}, 9); }), "input/a.jsonl: it ends at byte 8"));

  const auto reader = file.open();
  file.disk.open("input/a.jsonl", Disk::Open::create);  // Empties it.
  CHECK(says(message_of<WorldError>([&] { reader->try_read(1); }),
             "input/a.jsonl: it ends at byte 0"));
}

TEST_CASE("a read that fails is no end, and loses no entry", "[files][log]") {
  const Lines expected{std::string(200'000, 'a'), std::string(200'000, 'b')};
  OneFile file(expected[0] + "\n" + expected[1] + "\n");
  const auto reader = file.open();
  file.disk.fail_at(1, MemoryDisk::Moment::before);
  CHECK_THROWS_AS(reader->try_read(10), IoError);
  const auto entries = reader->try_read(10);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].bytes == expected[0]);

  file.disk.fail_at(1, MemoryDisk::Moment::before);
  CHECK_THROWS_AS(reader->try_read(10), IoError);

  CHECK_FALSE(reader->at_end());
  CHECK(lines_of(*reader) == Lines{expected[1]});
}

TEST_CASE("a reader tells its task at once that there is something to read", "[files][log]") {
  CountingParker parker;
  OneFile file("one\n");
  file.open()->bind(parker);
  CHECK(parker.unparked == 1);

  file.open({4, 2})->bind(parker);
  CHECK(parker.unparked == 1);
}

TEST_CASE("partitions are the files that fit, sorted by name", "[files][log]") {
  MemoryDisk disk;
  for (const auto* path : {"input/b.jsonl", "input/a.jsonl", "input/c.csv", "input/.hidden.jsonl",
                           "input/deep/d.jsonl", "a.jsonl"}) {
    disk.put_file(path, "x\n");
  }
  disk.put_file("input/c.jsonl", std::string(5'000, 'x'));
  FileLog log(disk);
  const auto names = [&](const std::string& address) {
    Lines found;
    for (const auto& partition : log.partitions(address, soon)) found.push_back(partition.name);
    return found;
  };

  CHECK(names("input/*.jsonl") == Lines{"a.jsonl", "b.jsonl", "c.jsonl"});
  CHECK(names("input/c.*") == Lines{"c.csv", "c.jsonl"});
  CHECK(names("input/?.jsonl") == Lines{"a.jsonl", "b.jsonl", "c.jsonl"});
  CHECK(names("input/*") == Lines{"a.jsonl", "b.jsonl", "c.csv", "c.jsonl"});
  CHECK(names("input/**s*l") == Lines{"a.jsonl", "b.jsonl", "c.jsonl"});
  CHECK(names("input/.*") == Lines{".hidden.jsonl"});
  CHECK(names("input/a.jsonl") == Lines{"a.jsonl"});
  CHECK(names("*.jsonl") == Lines{"a.jsonl"});

  const auto facts = log.partitions("input/?.jsonl", soon);
  CHECK(facts[0].end == 2);
  CHECK(facts[0].head_hash == checksum("x\n"));
  CHECK(facts[2].end == 5'000);
  CHECK(facts[2].head_hash == checksum(std::string(4'096, 'x')));
}

TEST_CASE("input that is not there or cannot be read is the user's mistake, by name",
          "[files][log]") {
  MemoryDisk disk;
  disk.put_file("input/a.jsonl", "x\n");
  FileLog log(disk);
  const auto complaint = [&](const std::string& address) {
    return message_of<UsageError>([&] { log.partitions(address, soon); });
  };

  CHECK(says(complaint("input/*.csv"), "`input/*.csv`: there is no file"));
  CHECK(says(complaint("nowhere/*"), "`nowhere/*`: there is no file"));
  CHECK(says(complaint("input/b.jsonl"), "`input/b.jsonl`: there is no such file"));
  CHECK(says(complaint("input"), "`input` cannot be read"));
  CHECK(says(complaint("in*/a.jsonl"), "only in the last part"));
  disk.fail_at(2, MemoryDisk::Moment::before);
  CHECK(says(complaint("input/a.jsonl"), "`input/a.jsonl` cannot be read: the disk fails"));
}
