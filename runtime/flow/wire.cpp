#include "millrace/runtime/flow/wire.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"

namespace millrace {
namespace {

constexpr std::size_t header_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t least_room_bytes = 1024;

}  // namespace

Bytes make_frame(std::span<const std::byte> body) {
  Encoder out;
  const auto begun = begin_frame(out);
  out.raw(body.data(), body.size());
  end_frame(out, begun);
  return out.take();
}

std::size_t begin_frame(Encoder& out) {
  const std::size_t begun = out.size();
  out.number(std::uint32_t{0});
  out.number(std::uint64_t{0});
  return begun;
}

void end_frame(Encoder& out, std::size_t begun) {
  const auto body = out.view().subspan(begun + header_bytes);
  out.patch(begun, static_cast<std::uint32_t>(body.size()));
  out.patch(begun + sizeof(std::uint32_t), checksum(body));
}

std::optional<std::span<const std::byte>> FrameReader::next(Connection& connection) {
  while (true) {
    if (auto frame = take_frame()) return frame;
    if (begin_ != 0) {
      std::copy(received_.begin() + static_cast<std::ptrdiff_t>(begin_),
                received_.begin() + static_cast<std::ptrdiff_t>(end_), received_.begin());
      end_ -= std::exchange(begin_, 0);
    }
    // Made larger where it must be, and never smaller: most reads find nothing.
    if (received_.size() - end_ < least_room_bytes) {
      received_.resize(std::max(2 * received_.size(), end_ + least_room_bytes));
    }
    const std::size_t got = connection.try_read(std::span(received_).subspan(end_));
    if (got == 0) return std::nullopt;
    end_ += got;
  }
}

std::optional<std::span<const std::byte>> FrameReader::take_frame() {
  const auto left = std::span<const std::byte>(received_).subspan(begin_, end_ - begin_);
  if (left.size() < header_bytes) return std::nullopt;
  Decoder in(left);
  const auto size = in.number<std::uint32_t>();
  const auto sum = in.number<std::uint64_t>();
  if (size > largest_frame_bytes) {
    throw CorruptBytes(fmt::format("a frame says that it has {} bytes; the limit is {}", size,
                                   largest_frame_bytes));
  }
  if (in.left() < size) return std::nullopt;
  const auto body = in.skip(size);
  if (checksum(body) != sum) throw CorruptBytes("a frame's checksum does not match its bytes");
  begin_ += header_bytes + size;
  return body;
}

}  // namespace millrace
