#include "millrace/env/envelope.hpp"

#include <fmt/format.h>

#include "millrace/env/hash.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t magic = 0x31524C4D;  // "MLR1", as it lies in the file.
constexpr std::size_t header_bytes = 24;

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
  const auto corrupt = [&](std::string_view why) {
    throw CorruptObject(fmt::format("{}: {}", name, why));
  };
  if (sealed.size() < header_bytes) {
    corrupt(fmt::format("{} bytes are too few for a header of {}", sealed.size(), header_bytes));
  }
  Decoder in(sealed);
  if (in.number<std::uint32_t>() != magic) corrupt("it does not begin with the mark of Millrace");
  const auto written_content = in.number<std::uint16_t>();
  if (written_content != static_cast<std::uint16_t>(content)) {
    corrupt(fmt::format("it holds content of kind {} where {} was expected", written_content,
                        static_cast<std::uint16_t>(content)));
  }
  const auto written_version = in.number<std::uint16_t>();
  if (written_version != version) {
    corrupt(fmt::format("its format has version {}; this program reads version {}", written_version,
                        version));
  }
  const auto length = in.number<std::uint64_t>();
  const auto sum = in.number<std::uint64_t>();
  if (length != in.left()) {
    corrupt(fmt::format("it says {} bytes and has {}", length, in.left()));
  }
  const auto payload = in.skip(in.left());
  if (checksum(payload) != sum) corrupt("its checksum does not match its bytes");
  return payload;
}

}  // namespace millrace
