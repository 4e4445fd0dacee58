#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/env/bytes.hpp"

namespace millrace {

/// What an object of the checkpoint store holds. The values are part of the format.
enum class Content : std::uint16_t {
  head = 1,
  manifest = 2,
  state = 3,
  staged_rows = 4,
  heartbeat = 5,
  register_file = 6,
};

/// Puts the 24-byte header of every stored object before `payload`: magic, content, version of its
/// format, length, checksum (ENVELOPE.md).
Bytes seal(Content content, std::uint16_t version, std::span<const std::byte> payload);

/// The payload inside `sealed`, good as long as `sealed` is.
///
/// Throws CorruptObject naming `name` and what is wrong: too short, another magic, other content, a
/// version this program does not know, a length or checksum that does not fit.
std::span<const std::byte> unseal(Content content, std::uint16_t version,
                                  std::span<const std::byte> sealed, std::string_view name);

}  // namespace millrace
