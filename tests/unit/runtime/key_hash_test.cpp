#include "millrace/runtime/state/key_hash.hpp"

#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/runtime/row.hpp"

using namespace millrace;

namespace {

enum class Color : std::uint8_t { red = 1 };
struct Pair {
  std::int64_t first = 0;
  std::string second;
};

}  // namespace

// These values decide which subtask owns a key. They may never change.
TEST_CASE("hashes of keys are what they have always been", "[runtime][key_hash]") {
  CHECK(hash_key(std::int64_t{0}) == 0x0850F9794D5108B4U);
  CHECK(hash_key(std::int64_t{-1}) == 0xCA58F47A8D49AAB8U);
  CHECK(hash_key(std::int32_t{-1}) == hash_key(std::int64_t{-1}));
  CHECK(hash_key(Color::red) == hash_key(1));
  CHECK(hash_key(std::string("")) == 0x0A6B7704C12976DAU);
  CHECK(hash_key(std::string("river")) == 0x2B8EC9618580BD5FU);
  CHECK(hash_key(std::string("12345678")) == 0xE8B20AA0195EA735U);
  CHECK(hash_key(std::string("123456789")) == 0x410DD8DFDCD4BF9CU);
  CHECK(hash_key(std::string_view("river")) == hash_key(std::string("river")));
  CHECK(hash_key(Pair{1, "river"}) == 0xF979301464E7E022U);
  Row row(2);
  row.set_integer(0, 1);
  row.set_text(1, "river");
  CHECK(hash_key(row) == 0xB12C774B43FC2850U);
}

TEST_CASE("groups of hashes are what they have always been", "[runtime][key_hash]") {
  CHECK(group_of(0) == 0);
  CHECK(group_of(hash_key(std::int64_t{1})) == 89);
  CHECK(group_of(hash_key(std::int64_t{2})) == 122);
  CHECK(group_of(hash_key(std::string("river"))) == 13);
  CHECK(group_of(~std::uint64_t{0}) == 48);
}

TEST_CASE("the length of a text is part of its hash", "[runtime][key_hash]") {
  const std::string zeros(16, '\0');
  for (std::size_t size = 0; size < zeros.size(); ++size) {
    CHECK(hash_bytes(zeros.data(), size) != hash_bytes(zeros.data(), size + 1));
  }
}

TEST_CASE("every key group has exactly one owner, at every parallelism", "[runtime][key_hash]") {
  for (int subtasks = 1; subtasks <= key_group_count; ++subtasks) {
    CAPTURE(subtasks);
    int next = 0;
    for (int subtask = 0; subtask < subtasks; ++subtask) {
      const GroupRange range = groups_of(subtask, subtasks);
      REQUIRE(range.first == next);  // Where the one before it ends.
      REQUIRE(range.first < range.last);
      for (int group = range.first; group < range.last; ++group) {
        REQUIRE(owner_of(static_cast<std::uint32_t>(group), subtasks) == subtask);
      }
      next = range.last;
    }
    REQUIRE(next == key_group_count);
  }
}

TEST_CASE("subtasks own equally many groups, give or take one", "[runtime][key_hash]") {
  for (int subtasks = 1; subtasks <= key_group_count; ++subtasks) {
    for (int subtask = 0; subtask < subtasks; ++subtask) {
      const GroupRange range = groups_of(subtask, subtasks);
      const int owned = range.last - range.first;
      const int fair = key_group_count / subtasks;
      REQUIRE(owned >= fair);
      REQUIRE(owned <= fair + 1);
    }
  }
}

TEST_CASE("ranges overlap if they have a group in common", "[runtime][key_hash]") {
  CHECK(overlap({0, 10}, {9, 12}));
  CHECK_FALSE(overlap({0, 10}, {10, 12}));
  CHECK_FALSE(overlap({10, 12}, {0, 10}));
  CHECK(overlap({3, 4}, {0, 10}));
}

TEST_CASE("keys spread over all groups, also those that follow each other", "[runtime][key_hash]") {
  std::array<int, key_group_count> keys{};
  for (std::int64_t key = 0; key < 128'000; ++key) ++keys[group_of(hash_key(key))];

  for (const int count : keys) {
    CHECK(count > 850);
    CHECK(count < 1'150);
  }
}
