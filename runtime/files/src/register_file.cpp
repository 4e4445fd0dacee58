#include "register_file.hpp"

#include <fmt/format.h>

#include "millrace/env/envelope.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t format_version = 1;

}  // namespace

Bytes seal_register(std::uint64_t version, std::span<const std::byte> bytes) {
  Encoder payload;
  payload.number(version);
  payload.raw(bytes.data(), bytes.size());
  return seal(Content::register_file, format_version, payload.view());
}

Versioned unseal_register(std::span<const std::byte> sealed, std::string_view name) {
  const auto payload = unseal(Content::register_file, format_version, sealed, name);
  Versioned found;
  if (payload.size() < sizeof found.version) {
    throw CorruptObject(fmt::format("{}: there is no version in it", name));
  }
  Decoder in(payload);
  found.version = in.number<std::uint64_t>();
  if (found.version == 0) {
    throw CorruptObject(fmt::format("{}: it was written and has version 0", name));
  }
  const auto bytes = in.skip(in.left());
  found.bytes.assign(bytes.begin(), bytes.end());
  return found;
}

}  // namespace millrace
