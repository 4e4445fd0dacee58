#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/env/network.hpp"

namespace millrace::sim {

// What travels between a device's client and its server: a length and so many bytes. Inside the
// simulator both ends are ours and nothing is corrupted on the way, so there is no checksum.

inline Bytes framed(std::span<const std::byte> body) {
  Encoder out;
  out.number(static_cast<std::uint32_t>(body.size()));
  out.raw(body.data(), body.size());
  return out.take();
}

/// Reads what has arrived into `received`, and takes the first whole frame out of it.
inline std::optional<Bytes> try_take_frame(Connection& connection, Bytes& received) {
  std::array<std::byte, 16 * 1024> piece;
  const auto frame_size = [&received]() -> std::optional<std::size_t> {
    if (received.size() < sizeof(std::uint32_t)) return std::nullopt;
    std::uint32_t size = 0;
    std::memcpy(&size, received.data(), sizeof size);
    return sizeof size + size;
  };
  while (true) {
    const auto size = frame_size();
    if (size && received.size() >= *size) {
      const auto begin = received.begin() + sizeof(std::uint32_t);
      const auto end = received.begin() + static_cast<std::ptrdiff_t>(*size);
      Bytes body(begin, end);
      received.erase(received.begin(), end);
      return body;
    }
    const std::size_t count = connection.try_read(piece);
    if (count == 0) return std::nullopt;
    received.insert(received.end(), piece.begin(),
                    piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

/// How an answer begins.
enum class AnswerKind : std::uint8_t {
  value,
  world_error,
  unavailable,
  corrupt,
  usage_error,
  job_failed,
};

}  // namespace millrace::sim
