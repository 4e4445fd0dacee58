#include "millrace/runtime/lines.hpp"

#include <charconv>
#include <set>

#include <catch2/catch.hpp>

#include "millrace/runtime/values.hpp"

#include "damage.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

std::int64_t parse_number(std::string_view line) {
  if (line == "gone") throw IoError("the disk is gone");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size()) {
    throw BadRecord("a number is expected, not `" + std::string(line) + "`");
  }
  return number;
}

using Numbers = std::vector<std::int64_t>;
using Then = Reading<std::int64_t>::Then;

struct OpenPartition {
  explicit OpenPartition(std::string content, OnBadRecord on_bad_record = OnBadRecord::fail,
                         Position from = {}) {
    const auto source = text_lines<std::int64_t>("log", &parse_number, on_bad_record);
    const auto end = static_cast<std::int64_t>(content.size());
    world.log.partitions_by_name["numbers"] = std::move(content);
    Env env = world.env();
    reader = source.open(env, "numbers", from, end);
  }
  Numbers next(std::size_t most) {
    const auto reading = reader->next(most);
    return {reading.rows.begin(), reading.rows.end()};
  }
  FakeWorld world;
  std::unique_ptr<SourceReader<std::int64_t>> reader;
};

Numbers read_all(SourceReader<std::int64_t>& reader, std::size_t most) {
  Numbers all;
  while (true) {
    const auto reading = reader.next(most);
    CHECK(reading.rows.size() <= most);
    all.insert(all.end(), reading.rows.begin(), reading.rows.end());
    if (reading.then == Then::end) return all;
  }
}

}  // namespace

TEST_CASE("lines become rows, from any position on", "[runtime][lines]") {
  const std::string text = "10\n-2\n300\n4\n";
  for (const std::size_t most : {1U, 3U, 100U}) {
    OpenPartition whole(text);
    CHECK(read_all(*whole.reader, most) == Numbers{10, -2, 300, 4});
    CHECK(whole.reader->position() == Position{12, 5});

    OpenPartition first(text);
    CHECK(first.next(2) == Numbers{10, -2});
    CHECK(first.reader->position() == Position{6, 3});
    OpenPartition second(text, OnBadRecord::fail, first.reader->position());
    CHECK(read_all(*second.reader, most) == Numbers{300, 4});
  }
}

TEST_CASE("a line that cannot be read ends the job, and is named", "[runtime][lines]") {
  OpenPartition partition("10\nx\n3\n");
  CHECK(message_of<JobFailed>([&] { partition.next(10); }) ==
        "numbers:2: a number is expected, not `x`");
  OpenPartition world_fails("10\ngone\n");
  CHECK_THROWS_AS(world_fails.next(10), IoError);
}

TEST_CASE("bad lines that are passed over are counted", "[runtime][lines]") {
  OpenPartition partition("x\n1\ny\nz\n2\nx\n", OnBadRecord::skip);
  CHECK(read_all(*partition.reader, 2) == Numbers{1, 2});
  CHECK(partition.reader->skipped() == 4);
  CHECK(partition.reader->position() == Position{12, 7});
  OpenPartition world_fails("gone\n", OnBadRecord::skip);
  CHECK_THROWS_AS(world_fails.next(10), IoError);
}

TEST_CASE("values are lent from where they lie, each in one partition", "[runtime][lines]") {
  FakeWorld world;
  Env env = world.env();
  for (const int partitions : {1, 2, 3, 11}) {
    for (const std::size_t count : {0U, 1U, 7U, 100U}) {
      CAPTURE(partitions, count);
      Numbers numbers(count);
      for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(i);
      const auto source = values(numbers, partitions);
      Numbers all;
      std::set<std::string> names;
      for (const PartitionFacts& facts : source.partitions(env)) {
        names.insert(facts.name);
        const auto reader = source.open(env, facts.name, {}, facts.end);
        const auto rows = read_all(*reader, 3);
        all.insert(all.end(), rows.begin(), rows.end());
        CHECK(rows.size() == static_cast<std::size_t>(facts.end));
        CHECK(reader->position() == Position{facts.end, facts.end + 1});
        for (std::int64_t from = 0; from <= facts.end; from += 2) {
          const auto behind = source.open(env, facts.name, {from, from + 1}, facts.end);
          CHECK(read_all(*behind, 100) == Numbers(rows.begin() + from, rows.end()));
        }
      }
      CHECK(names.size() == static_cast<std::size_t>(partitions));
      CHECK(all == numbers);
    }
  }
  const auto source = values(Numbers{1, 2, 3, 4});
  const auto one = source.open(env, "values-000000", {}, 4);
  const auto other = source.open(env, "values-000000", {1, 2}, 4);
  const auto* const first = one->next(1).rows.data();
  CHECK(other->next(1).rows.data() == first + 1);
}
