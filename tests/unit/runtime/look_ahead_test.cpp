#include "millrace/runtime/state/look_ahead.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/state/table.hpp"

#include "draws.hpp"

using namespace millrace;

namespace {

using Table = KeyedTable<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("who looks ahead finds what is there by then", "[runtime][table]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    Table table;
    std::map<std::int64_t, std::int64_t> model;
    for (int round = 0; round < 200; ++round) {
      std::vector<std::int64_t> keys;
      std::vector<std::uint64_t> hashes;
      for (std::uint64_t left = draws.below(60); left > 0; --left) {
        keys.push_back(static_cast<std::int64_t>(draws.below(2'000)));
        hashes.push_back(hash_key(keys.back()));
      }
      LookAhead<Table> ahead(table, hashes);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto guess = ahead.next(table);
        const std::int64_t key = keys[i];
        if (draws.one_in(3)) {  // Another takes its place, and the index grows now and then.
          table.erase(key, hashes[i]);
          model.erase(key);
        }
        const std::int64_t* const found = table.find(key, hashes[i], guess);
        REQUIRE((found != nullptr) == model.contains(key));
        REQUIRE((found == nullptr || *found == model[key]));
        REQUIRE(++table.at(key, hashes[i], guess) == ++model[key]);
      }
    }
    REQUIRE(table.size() == model.size());
  }
}

TEST_CASE("what was guessed in one table does no harm in another", "[runtime][table]") {
  Table full;
  Table other;
  std::vector<std::uint64_t> hashes;
  for (std::int64_t key = 0; key < 100; ++key) {
    hashes.push_back(hash_key(key));
    full.at(key, hashes.back()) = key;
    other.at(99 - key, hash_key(99 - key)) = 1'000 + key;
  }
  const Table none;
  LookAhead<Table> ahead(full, hashes);
  for (std::int64_t key = 0; key < 100; ++key) {
    const auto guess = ahead.next(key % 2 == 0 ? full : none);
    CHECK(*other.find(key, hashes[static_cast<std::size_t>(key)], guess) == 1'099 - key);
  }
}
