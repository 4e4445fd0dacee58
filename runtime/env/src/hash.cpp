#include "millrace/env/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace millrace {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace millrace
