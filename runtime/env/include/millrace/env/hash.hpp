#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/env/int128.hpp"

namespace millrace {

/// XXH3, 64 bits, no seed: the checksum of every format.
std::uint64_t checksum(std::span<const std::byte> bytes);
std::uint64_t checksum(std::string_view text);

/// Spreads every bit of `x` over the whole word (a multiply and a fold). Part of formats and of the
/// meaning of seeds: never change what it returns. Vectors in hash_test.cpp.
constexpr std::uint64_t mix64(std::uint64_t x) {
  const Uint128 product = static_cast<Uint128>(x ^ 0x9E3779B97F4A7C15U) * 0xE7037ED1A0B428DBU;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// A number for a literal name, the same on every machine (FNV-1a, then mixed).
constexpr std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x00000100000001B3U;
  }
  return mix64(hash);
}

}  // namespace millrace
