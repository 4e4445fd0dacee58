#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "millrace/runtime/state/blocks.hpp"
#include "millrace/runtime/state/codec.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {

/// State by key: a map that remembers the order in which keys came.
///
/// What leaves a table leaves in that order, which depends on the history of the table and on
/// nothing else; a snapshot keeps it. Erasing moves the last entry into the gap. References to
/// states are good until the next insertion, erasure or freeze.
///
/// Costs about 24 bytes a key for entries of 16, one cache miss to find a key, one to reach it.
template <class K, class S>
class KeyedTable {
 public:
  struct Entry {
    K key;
    S state;
  };

  KeyedTable() : entries_(entry_type<Entry>) {}

  std::uint32_t size() const { return entries_.size(); }
  bool empty() const { return size() == 0; }
  std::size_t size_bytes() const { return index_.size_bytes() + entries_.size_bytes(); }

  /// Whether the table is larger than a second-level cache. Who knows the next keys then asks for
  /// their lines ahead; below that, asking costs more than it saves.
  bool is_large() const { return index_.size_bytes() + size() * sizeof(Entry) > 1024 * 1024; }
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&index_.line(index_.first(hash))); }
  /// Where a key's entry may be. Good for `at` and `find` whatever happens to the table meanwhile:
  /// they look before they believe it.
  struct Guess {
    std::uint32_t position = std::numeric_limits<std::uint32_t>::max();
  };
  /// After `prefetch`, when the line has come. Asks for the entry, and says where that is.
  Guess prefetch_entry(std::uint64_t hash) const {
    const IndexLine& line = index_.line(index_.first(hash));
    const std::uint32_t found = line.matches(TableIndex::tag_of(hash));
    if (found == 0) return {};
    const std::uint32_t position = line.positions[std::countr_zero(found)];
    const Entry* const at = &entry(position);
    __builtin_prefetch(at);
    if constexpr (sizeof(Entry) > 32) __builtin_prefetch(&at->state + 1);
    return {position};
  }

  /// The state of `key`, made if it is new.
  S& at(const K& key, std::uint64_t hash, Guess guess = {}) {
    if (is_at(guess, key)) return writable(guess.position).state;
    const Place found = locate(key, hash);
    if (found.line != nullptr) [[likely]] {
      return writable(found.line->positions[found.place]).state;
    }
    return insert(key, hash);
  }

  /// The state of `key` for writing, or null.
  S* find(const K& key, std::uint64_t hash, Guess guess = {}) {
    if (is_at(guess, key)) return &writable(guess.position).state;
    const Place found = locate(key, hash);
    return found.line == nullptr ? nullptr : &writable(found.line->positions[found.place]).state;
  }

  /// The same for reading: a block that a snapshot shares is not copied for it.
  const S* look(const K& key, std::uint64_t hash) const {
    const auto found = locate(*this, key, hash);
    return found.line == nullptr ? nullptr : &entry(found.line->positions[found.place]).state;
  }

  void erase(const K& key, std::uint64_t hash) {
    const Place found = locate(key, hash);
    if (found.line == nullptr) return;
    const std::uint32_t gap = found.line->positions[found.place];
    const std::uint32_t last = size() - 1;
    found.line->tags[found.place] = 0;
    if (gap != last) {
      const Place moved = locate(entry(last).key, hash_key(entry(last).key));
      moved.line->positions[moved.place] = gap;
      writable(gap) = std::move(writable(last));
    }
    writable(last) = Entry{};
    entries_.drop_last();
    if constexpr (std::is_trivially_copyable_v<K>) {
      // Who erases goes on erasing, and entries near the end will have to move.
      constexpr std::uint32_t ahead = 6;
      if (last > ahead && is_large()) prefetch(hash_key(entry(last - ahead).key));
    }
  }

  /// Calls `f(key, state)` for each key, in order.
  template <class F>
  void each(F&& f) const {
    for (std::uint32_t at = 0; at < size(); at += per_block) {
      const Entry* const block = reinterpret_cast<const Entry*>(entries_.block(at / per_block));
      const std::uint32_t count = std::min(per_block, size() - at);
      for (std::uint32_t i = 0; i < count; ++i) f(block[i].key, block[i].state);
    }
  }

  void clear() {
    if (empty()) return;
    index_.clear();
    entries_.clear();
  }

  void reserve(std::uint32_t entries) {
    if (empty()) index_.reserve(entries);
  }

  /// The table as it is now, for `write`.
  FrozenBlocks freeze() { return entries_.freeze(); }

  static void write(const FrozenBlocks& frozen, Encoder& out) {
    out.number(frozen.entries);
    for (std::uint32_t at = 0; at < frozen.entries; at += per_block) {
      const auto* const block =
          reinterpret_cast<const Entry*>(frozen.blocks[at / per_block].ref.data());
      const std::uint32_t count = std::min(per_block, frozen.entries - at);
      if constexpr (Plain<Entry>) {
        out.raw(block, count * sizeof(Entry));
      } else {
        for (std::uint32_t i = 0; i < count; ++i) {
          encode(out, block[i].key);
          encode(out, block[i].state);
        }
      }
    }
  }

 private:
  static constexpr std::uint32_t per_block = entry_type<Entry>.per_block;

  template <class Line>
  struct PlaceIn {
    Line* line;
    int place;
  };
  using Place = PlaceIn<IndexLine>;

  Entry& entry(std::uint32_t position) const {
    return reinterpret_cast<Entry*>(entries_.block(position / per_block))[position % per_block];
  }
  Entry& writable(std::uint32_t position) {
    entries_.before_write(position / per_block);
    return entry(position);
  }
  bool is_at(Guess guess, const K& key) const {
    return guess.position < size() && entry(guess.position).key == key;
  }
  Place locate(const K& key, std::uint64_t hash) { return locate(*this, key, hash); }
  template <class Table>
  static auto locate(Table& table, const K& key, std::uint64_t hash)
      -> PlaceIn<std::remove_reference_t<decltype(table.index_.line(0))>> {
    const std::size_t first = table.index_.first(hash);
    std::size_t i = first;
    do {
      auto& line = table.index_.line(i);
      for (std::uint32_t left = line.matches(TableIndex::tag_of(hash)); left != 0;
           left &= left - 1) {
        const int place = std::countr_zero(left);
        if (table.entry(line.positions[place]).key == key) return {&line, place};
      }
      if ((line.overflowed & TableIndex::overflow_bit(hash)) == 0) return {nullptr, 0};
      i = table.index_.next(i);
      // Marks of an overflow outlive the entries that overflowed, so every line may have one.
    } while (i != first);
    return {nullptr, 0};
  }
  [[gnu::noinline]] S& insert(const K& key, std::uint64_t hash) {
    if (index_.is_full(size())) {
      index_.double_lines();
      for (std::uint32_t at = 0; at < size(); ++at) index_.place(hash_key(entry(at).key), at);
    }
    index_.place(hash, size());
    Entry& made = entry(entries_.add());
    made.key = key;
    made.state = S{};
    return made.state;
  }

  TableIndex index_;
  BlockStore entries_;
};

}  // namespace millrace
