#include "millrace/runtime/state/table.hpp"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "draws.hpp"

using namespace millrace;

namespace {

/// Thrown by keys that were compared too often: a search that has no end.
struct EndlessSearch {};

/// A key whose hashes are few and under control, so that lines of the index overflow.
struct Clumped {
  std::int64_t number = 0;
  std::uint64_t hash_value = 0;

  std::uint64_t hash() const { return hash_value; }
  friend bool operator==(const Clumped& a, const Clumped& b) {
    if (++compared > 1'000'000) throw EndlessSearch{};
    return a.number == b.number;
  }
  static inline std::uint64_t compared = 0;
};

template <class K, class S>
using Entries = std::vector<std::pair<K, S>>;

template <class K, class S>
Entries<K, S> entries_of(const KeyedTable<K, S>& table) {
  Entries<K, S> entries;
  table.each([&](const K& key, const S& state) { entries.emplace_back(key, state); });
  return entries;
}

/// What a frozen view holds, by way of the bytes that are stored.
template <class K, class S>
Entries<K, S> entries_of(const FrozenBlocks& frozen) {
  Encoder out;
  KeyedTable<K, S>::write(frozen, out);
  Decoder in(out.view());
  Entries<K, S> entries;
  const auto count = in.count(1);
  for (std::uint32_t i = 0; i < count; ++i) {
    K key = decoded<K>(in);
    S state = decoded<S>(in);
    entries.emplace_back(std::move(key), std::move(state));
  }
  in.expect_end();
  return entries;
}

/// A table beside a map and the order of arrival, with every frozen view that was taken.
template <class K, class S>
class TableAndModel {
 public:
  void set(const K& key, const S& state) {
    table_.at(key, hash_key(key)) = state;
    const auto [found, is_new] = map_.try_emplace(key, order_.size());
    if (is_new) {
      order_.emplace_back(key, state);
    } else {
      order_[found->second].second = state;
    }
  }
  void erase(const K& key) {
    table_.erase(key, hash_key(key));
    const auto found = map_.find(key);
    if (found == map_.end()) return;
    const std::size_t gap = found->second;
    map_.erase(found);
    if (gap + 1 != order_.size()) {
      order_[gap] = order_.back();
      map_[order_[gap].first] = gap;
    }
    order_.pop_back();
  }
  void clear() {
    table_.clear();
    map_.clear();
    order_.clear();
  }
  void freeze() { views_.push_back({table_.freeze(), order_}); }
  void forget_a_view(std::size_t at) {
    if (!views_.empty())
      views_.erase(views_.begin() + static_cast<std::ptrdiff_t>(at % views_.size()));
  }

  /// Whether the table, looked at in every way, is what the map says.
  bool agrees_about(const K& key) {
    const auto found = map_.find(key);
    const S* const state = table_.find(key, hash_key(key));
    return found == map_.end() ? state == nullptr
                               : state != nullptr && *state == order_[found->second].second;
  }
  bool agrees() const {
    return table_.size() == order_.size() && table_.empty() == order_.empty() &&
           entries_of(table_) == order_;
  }
  bool views_are_unchanged() const {
    for (const View& view : views_) {
      if (entries_of<K, S>(view.frozen) != view.expected) return false;
    }
    return true;
  }
  std::size_t views() const { return views_.size(); }
  std::size_t size() const { return order_.size(); }

 private:
  struct View {
    FrozenBlocks frozen;
    Entries<K, S> expected;
  };
  KeyedTable<K, S> table_;
  std::map<K, std::size_t> map_;
  Entries<K, S> order_;
  std::vector<View> views_;
};

/// Random operations on keys out of a growing range; most of them arrive, some go.
template <class K, class S, class MakeKey, class MakeState>
void walk(std::uint64_t seed, int steps, MakeKey make_key, MakeState make_state) {
  Draws draws(seed);
  TableAndModel<K, S> both;
  std::size_t most_views = 0;
  std::size_t most_entries = 0;
  for (int i = 0; i < steps; ++i) {
    const K key = make_key(draws.below(100 + static_cast<std::uint64_t>(i) / 4));
    const auto what = draws.below(1'000);
    if (what < 650) {
      both.set(key, make_state(draws));
    } else if (what < 800) {
      REQUIRE(both.agrees_about(key));
    } else if (what < 960) {
      both.erase(key);
    } else if (what < 975) {
      both.freeze();
    } else if (what < 990) {
      both.forget_a_view(draws.below(1'000));
    } else if (what == 999 && draws.one_in(4)) {
      both.clear();
    }
    most_views = std::max(most_views, both.views());
    most_entries = std::max(most_entries, both.size());
    if (i % 500 == 0 || i + 1 == steps) {
      REQUIRE(both.agrees());
      REQUIRE(both.views_are_unchanged());
    }
  }
  CHECK(most_views >= 3);
  CHECK(most_entries >= 300);
}

}  // namespace

TEST_CASE("a table is a map that keeps the order of arrival, and its views never change",
          "[runtime][table]") {
  const auto seed = GENERATE(1, 2, 3, 4);
  walk<std::int64_t, std::int64_t>(
      static_cast<std::uint64_t>(seed), 10'000,
      [](std::uint64_t n) { return static_cast<std::int64_t>(n) - 50; },
      [](Draws& draws) { return static_cast<std::int64_t>(draws.next()); });
}

TEST_CASE("a table of texts and lists is a map as well", "[runtime][table]") {
  const auto seed = GENERATE(1, 2);
  walk<std::string, std::vector<std::uint64_t>>(
      static_cast<std::uint64_t>(seed), 6'000,
      [](std::uint64_t n) { return "a key that is not short, number " + std::to_string(n); },
      [](Draws& draws) { return std::vector<std::uint64_t>(draws.below(5), draws.next()); });
}

TEST_CASE("a new key has the state of nothing, also where another key was before",
          "[runtime][table]") {
  KeyedTable<std::int64_t, std::int64_t> table;
  for (std::int64_t key = 0; key < 600; ++key) table.at(key, hash_key(key)) = 7;
  table.clear();

  for (std::int64_t key = 0; key < 600; ++key) CHECK(table.at(key, hash_key(key)) == 0);
}

TEST_CASE("keys of one hash overflow from line to line and are all found", "[runtime][table]") {
  KeyedTable<Clumped, std::int64_t> table;
  for (std::int64_t i = 0; i < 300; ++i) {
    const Clumped key{i, 0xABCDEF0000000000U};
    table.at(key, key.hash()) = i;
  }

  CHECK(table.size() == 300);
  for (std::int64_t i = 0; i < 300; ++i) {
    const Clumped key{i, 0xABCDEF0000000000U};
    const auto* const state = table.find(key, key.hash());
    REQUIRE(state != nullptr);
    CHECK(*state == i);
  }
  const Clumped stranger{300, 0xABCDEF0000000000U};
  CHECK(table.find(stranger, stranger.hash()) == nullptr);
}

TEST_CASE("a key that is not there is not found, however often lines have overflowed before",
          "[runtime][table]") {
  // Two lines, the first for hashes that begin with 0 and the second for those that begin with 1.
  // One key stays, so that every search compares.
  constexpr std::uint64_t hashes[] = {0, std::uint64_t{1} << 63};
  KeyedTable<Clumped, std::int64_t> table;
  table.at({100, hashes[0]}, hashes[0]) = 100;
  const auto fill_and_empty = [&table](std::uint64_t hash) {
    for (std::int64_t i = 0; i < 13; ++i) table.at({i, hash}, hash) = i;
    for (std::int64_t i = 0; i < 13; ++i) table.erase({i, hash}, hash);
  };
  Clumped::compared = 0;

  fill_and_empty(hashes[0]);
  fill_and_empty(hashes[1]);

  CHECK(table.find({1, hashes[0]}, hashes[0]) == nullptr);
  CHECK(table.size() == 1);
}

TEST_CASE("a view tells which blocks were written to since the view before", "[runtime][table]") {
  KeyedTable<std::int64_t, std::int64_t> table;  // 256 entries a block.
  using Changed = std::vector<bool>;
  const auto changed = [&table] {
    Changed blocks;
    for (const KeptBlock& block : table.freeze().blocks) blocks.push_back(block.changed);
    return blocks;
  };
  for (std::int64_t key = 0; key < 600; ++key) table.at(key, hash_key(key)) = key;

  CHECK(changed() == Changed{true, true, true});
  CHECK(changed() == Changed{false, false, false});
  table.at(300, hash_key(std::int64_t{300})) = 0;
  CHECK(changed() == Changed{false, true, false});
  table.at(600, hash_key(std::int64_t{600})) = 0;  // New, in the last block.
  CHECK(changed() == Changed{false, false, true});
}

TEST_CASE("a write to a frozen block copies that block and no other", "[runtime][table]") {
  KeyedTable<std::int64_t, std::int64_t> table;
  for (std::int64_t key = 0; key < 600; ++key) table.at(key, hash_key(key)) = key;
  const FrozenBlocks before = table.freeze();
  table.at(300, hash_key(std::int64_t{300})) = 0;
  const FrozenBlocks after = table.freeze();

  CHECK(after.blocks[0].ref.data() == before.blocks[0].ref.data());
  CHECK(after.blocks[1].ref.data() != before.blocks[1].ref.data());
  CHECK(after.blocks[2].ref.data() == before.blocks[2].ref.data());
}

TEST_CASE("room that was reserved is used, and holds what it promised", "[runtime][table]") {
  KeyedTable<std::int64_t, std::int64_t> table;
  table.reserve(10'000);
  const auto index_bytes = table.size_bytes();
  for (std::int64_t key = 0; key < 10'000; ++key) table.at(key, hash_key(key)) = key;

  const auto entry_bytes = (10'000 + 255) / 256 * std::size_t{256} * 16;
  CHECK(table.size_bytes() == index_bytes + entry_bytes);  // The index did not grow.
  for (std::int64_t key = 0; key < 10'000; ++key) {
    REQUIRE(*table.find(key, hash_key(key)) == key);
  }
}

TEST_CASE("a line of an index finds the places of a tag among its twelve", "[runtime][table]") {
  IndexLine line{};
  CHECK(line.matches(0) == 0xFFF);
  line.tags[0] = 5;
  line.tags[11] = 5;
  line.overflowed = 5;  // Beside the tags, and none.
  CHECK(line.matches(5) == 0x801);
  CHECK(line.matches(0) == 0x7FE);
  CHECK(line.matches(7) == 0);
}

TEST_CASE("no hash has the tag of a free place", "[runtime][table]") {
  for (std::uint64_t low = 0; low < 256; ++low) CHECK(TableIndex::tag_of(low << 56 | low) != 0);
}
