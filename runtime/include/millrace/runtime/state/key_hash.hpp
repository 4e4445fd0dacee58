#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/state/fields.hpp"

namespace millrace {

// What these functions return is part of the format of snapshots: it decides which subtask owns a
// key. Never change it (vectors in key_hash_test.cpp).

inline std::uint64_t hash_bytes(const void* from, std::size_t count) {
  const auto* at = static_cast<const char*>(from);
  std::uint64_t hash = mix64(count);
  std::uint64_t word = 0;
  for (; count >= sizeof word; at += sizeof word, count -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    hash = mix64(hash ^ word) + word;
  }
  word = 0;
  if (count != 0) std::memcpy(&word, at, count);
  return mix64(hash ^ word);
}

/// Integers, enumerations, texts, things with a `hash()` of their own, and plain structs of these.
template <class K>
std::uint64_t hash_key(const K& key) {
  static_assert(!std::is_floating_point_v<K>,
                "a floating-point number makes no key: equal values may differ in their bytes");
  if constexpr (std::is_integral_v<K> || std::is_enum_v<K>) {
    return mix64(static_cast<std::uint64_t>(key));
  } else if constexpr (std::is_convertible_v<K, std::string_view>) {
    const std::string_view text = key;
    return hash_bytes(text.data(), text.size());
  } else if constexpr (requires { key.hash(); }) {
    return key.hash();
  } else {
    return with_fields(key, [](const auto&... member) {
      std::uint64_t hash = sizeof...(member);
      ((hash = mix64(hash ^ hash_key(member))), ...);
      return hash;
    });
  }
}

/// How many key groups there are: the most subtasks an operator can ever have. Fixed at genesis.
inline constexpr int key_group_count = 128;

/// The group of a key with this hash. Mixes again, because tables find their slots by the high bits
/// of the same hash: groups made of those bits would leave each subtask a fraction of its slots.
constexpr std::uint32_t group_of(std::uint64_t hash) {
  const std::uint64_t mixed = hash * 0x9FB21C651E98DF25U >> 32;
  return static_cast<std::uint32_t>(mixed * key_group_count >> 32);
}

/// Which of `subtasks` owns a group. Ascending in the group, so each owns a range.
constexpr int owner_of(std::uint32_t group, int subtasks) {
  return static_cast<int>(group) * subtasks / key_group_count;
}

/// The groups that a subtask owns: [first, last).
struct GroupRange {
  int first = 0;
  int last = 0;
  friend bool operator==(GroupRange, GroupRange) = default;
};
constexpr GroupRange groups_of(int subtask, int subtasks) {
  return {(subtask * key_group_count + subtasks - 1) / subtasks,
          ((subtask + 1) * key_group_count + subtasks - 1) / subtasks};
}
constexpr bool overlap(GroupRange a, GroupRange b) { return a.first < b.last && b.first < a.last; }

}  // namespace millrace
