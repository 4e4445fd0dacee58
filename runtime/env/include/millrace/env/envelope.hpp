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

/// Of every stored object.
inline constexpr std::size_t envelope_header_bytes = 24;

/// Puts the header of every stored object before `payload`: magic, content, version of its
/// format, length, checksum (ENVELOPE.md).
Bytes seal(Content content, std::uint16_t version, std::span<const std::byte> payload);

/// The payload inside `sealed`, good as long as `sealed` is.
///
/// Throws CorruptObject naming `name` and what is wrong: too short, another magic, other content, a
/// version this program does not know, a length or checksum that does not fit.
std::span<const std::byte> unseal(Content content, std::uint16_t version,
                                  std::span<const std::byte> sealed, std::string_view name);

/// Checks the first bytes of a sealed object of which only parts are read, each with a checksum of
/// its own: magic, content and version. Throws as `unseal`.
void expect_header(Content content, std::uint16_t version, std::span<const std::byte> header,
                   std::string_view name);

/// What `read` makes of the payload inside `sealed`, all of which it must use.
///
/// Throws as `unseal`; what `read` finds corrupt is thrown with the name as well.
template <class Read>
auto read_sealed(Content content, std::uint16_t version, std::span<const std::byte> sealed,
                 std::string_view name, Read&& read) {
  Decoder in(unseal(content, version, sealed, name));
  try {
    auto value = read(in);
    in.expect_end();
    return value;
  } catch (const CorruptBytes& error) {
    throw CorruptObject(std::string(name) + ": " + error.what());
  }
}

}  // namespace millrace
