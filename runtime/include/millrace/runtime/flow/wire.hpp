#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "millrace/env/bytes.hpp"
#include "millrace/env/network.hpp"

namespace millrace {

/// The most that a frame may hold. A length beyond it is refused before anything is reserved.
inline constexpr std::uint32_t largest_frame_bytes = 64U << 20;

/// Puts length and checksum before `body` (WIRE.md).
Bytes make_frame(std::span<const std::byte> body);

/// The same where the body is written in place: between the two calls `out` takes it.
std::size_t begin_frame(Encoder& out);
void end_frame(Encoder& out, std::size_t begun);

/// Cuts the bytes of a connection into frames. Trusts nothing.
class FrameReader {
 public:
  /// The next frame's body, lent until the next call, or nothing if it has not all arrived.
  ///
  /// Throws CorruptBytes: a length beyond the limit, or a checksum that does not fit; the
  /// connection is then of no more use. ConnectionLost, Killed.
  std::optional<std::span<const std::byte>> next(Connection& connection);

 private:
  std::optional<std::span<const std::byte>> take_frame();

  Bytes received_;
  std::size_t begin_ = 0;  ///< Where in `received_` what was not taken begins,
  std::size_t end_ = 0;    ///< and where it ends. Behind it is room.
};

}  // namespace millrace
