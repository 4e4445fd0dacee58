#include "millrace/env/envelope.hpp"

#include <fmt/format.h>

#include "millrace/env/hash.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t magic = 0x31524C4D;  // "MLR1", as it lies in the file.

[[noreturn]] void corrupt(std::string_view name, std::string_view why) {
  throw CorruptObject(fmt::format("{}: {}", name, why));
}

/// Reads magic, content and version.
void read_kind(Decoder& in, Content content, std::uint16_t version, std::string_view name) {
  if (in.left() < envelope_header_bytes) {
    corrupt(name, fmt::format("{} bytes are too few for a header of {}", in.left(),
                              envelope_header_bytes));
  }
  if (in.number<std::uint32_t>() != magic) {
    corrupt(name, "it does not begin with the mark of Millrace");
  }
  const auto written_content = in.number<std::uint16_t>();
  if (written_content != static_cast<std::uint16_t>(content)) {
    corrupt(name, fmt::format("it holds content of kind {} where {} was expected", written_content,
                              static_cast<std::uint16_t>(content)));
  }
  const auto written_version = in.number<std::uint16_t>();
  if (written_version != version) {
    corrupt(name, fmt::format("its format has version {}; this program reads version {}",
                              written_version, version));
  }
}

}  // namespace

Bytes seal(Content content, std::uint16_t version, std::span<const std::byte> payload) {
  Encoder out;
  out.number(magic);
  out.number(static_cast<std::uint16_t>(content));
  out.number(version);
  out.number(static_cast<std::uint64_t>(payload.size()));
  out.number(checksum(payload));
  out.raw(payload.data(), payload.size());
  return out.take();
}

std::span<const std::byte> unseal(Content content, std::uint16_t version,
                                  std::span<const std::byte> sealed, std::string_view name) {
  Decoder in(sealed);
  read_kind(in, content, version, name);
  const auto length = in.number<std::uint64_t>();
  const auto sum = in.number<std::uint64_t>();
  if (length != in.left()) {
    corrupt(name, fmt::format("it says {} bytes and has {}", length, in.left()));
  }
  const auto payload = in.skip(in.left());
  if (checksum(payload) != sum) corrupt(name, "its checksum does not match its bytes");
  return payload;
}

void expect_header(Content content, std::uint16_t version, std::span<const std::byte> header,
                   std::string_view name) {
  Decoder in(header);
  read_kind(in, content, version, name);
}

}  // namespace millrace
