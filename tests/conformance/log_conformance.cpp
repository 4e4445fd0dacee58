#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"

#include "worlds.hpp"

using namespace millrace;
using namespace std::chrono_literals;
using millrace::conformance::in_every_world_with_log;
using Lines = std::vector<std::string>;

namespace {

struct Read {
  Lines lines;
  std::vector<Position> next;
};

/// Reads until the end, waiting where there is nothing yet.
Read read_all(Env& env, PartitionReader& reader, std::size_t most) {
  Read read;
  reader.bind(env.parker);
  while (true) {
    const auto entries = reader.try_read(most);
    for (const auto& entry : entries) {
      read.lines.emplace_back(entry.bytes);
      read.next.push_back(entry.next);
    }
    if (!entries.empty()) continue;
    if (reader.at_end()) return read;
    env.parker.park_until(Instant::never());
  }
}

}  // namespace

TEST_CASE("partitions are found by name with what was in them", "[conformance][log]") {
  const std::string long_text(10'000, 'x');
  in_every_world_with_log({{"b.jsonl", "one\ntwo\n"}, {"a.jsonl", long_text}, {"c.jsonl", ""}},
                          [&](Env& env, const std::string& address) {
                            const auto found = env.log.partitions(address, env.in(1min));

                            REQUIRE(found.size() == 3);
                            CHECK(found[0].name == "a.jsonl");
                            CHECK(found[1].name == "b.jsonl");
                            CHECK(found[2].name == "c.jsonl");
                            CHECK(found[0].end == 10'000);
                            CHECK(found[1].end == 8);
                            CHECK(found[2].end == 0);
                            CHECK(found[0].head_hash == checksum(long_text.substr(0, 4'096)));
                            CHECK(found[1].head_hash == checksum("one\ntwo\n"));
                          });
}

TEST_CASE("a log that is not there is the user's mistake", "[conformance][log]") {
  in_every_world_with_log({{"a.jsonl", "x\n"}}, [](Env& env, const std::string& address) {
    CHECK_THROWS_AS(env.log.partitions(address + ".nothing", env.in(1min)), UsageError);
  });
}

TEST_CASE("all entries of a partition are read in order, however many at once",
          "[conformance][log]") {
  std::string text;
  Lines expected;
  for (int i = 0; i < 5'000; ++i) {
    expected.push_back("{\"id\": " + std::to_string(i) + "}" +
                       std::string(std::size_t(i % 200), ' '));
    text += expected.back() + (i % 3 == 0 ? "\r\n" : "\n");
    if (i % 7 == 0) text += "\n";
  }
  const auto end = static_cast<std::int64_t>(text.size());
  in_every_world_with_log({{"a.jsonl", text}}, [&](Env& env, const std::string& address) {
    for (const std::size_t most : {1, 100, 100'000}) {
      const auto reader = env.log.open(address, "a.jsonl", {}, end);
      CHECK(read_all(env, *reader, most).lines == expected);
    }
  });
}

TEST_CASE("reading goes on from every position that an entry tells", "[conformance][log]") {
  const std::string text = "one\n\ntwo\r\nthree";
  const auto end = static_cast<std::int64_t>(text.size());
  in_every_world_with_log({{"a.jsonl", text}}, [&](Env& env, const std::string& address) {
    const auto reader = env.log.open(address, "a.jsonl", {}, end);
    const Read all = read_all(env, *reader, 10);
    REQUIRE(all.lines == Lines{"one", "two", "three"});
    CHECK(all.next == std::vector<Position>{{4, 2}, {10, 4}, {15, 5}});

    for (std::size_t i = 0; i < all.next.size(); ++i) {
      const auto rest = env.log.open(address, "a.jsonl", all.next[i], end);
      const auto skipped = static_cast<std::ptrdiff_t>(i) + 1;
      CHECK(read_all(env, *rest, 10).lines == Lines(all.lines.begin() + skipped, all.lines.end()));
    }
  });
}

TEST_CASE("nothing behind the given end is read", "[conformance][log]") {
  in_every_world_with_log({{"a.jsonl", "one\ntwo\nthree\n"}},
                          [](Env& env, const std::string& address) {
                            const auto reader = env.log.open(address, "a.jsonl", {}, 8);

                            CHECK(read_all(env, *reader, 10).lines == Lines{"one", "two"});
                            CHECK(reader->try_read(10).empty());
                          });
}

TEST_CASE("a partition that has become shorter fails the world", "[conformance][log]") {
  in_every_world_with_log({{"a.jsonl", "one\n"}}, [](Env& env, const std::string& address) {
    CHECK_THROWS_AS(read_all(env, *env.log.open(address, "a.jsonl", {}, 1'000), 10), WorldError);
  });
}

TEST_CASE("an entry that is too long fails the job", "[conformance][log]") {
  const std::string text(2 << 20, 'x');
  in_every_world_with_log({{"a.jsonl", text}}, [&](Env& env, const std::string& address) {
    const auto reader =
        env.log.open(address, "a.jsonl", {}, static_cast<std::int64_t>(text.size()));
    CHECK_THROWS_AS(read_all(env, *reader, 10), JobFailed);
  });
}
