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
  out.bytes(body);
  return out.take();
}

/// The size of the frame that begins there, if that much of it has come.
inline std::optional<std::size_t> frame_size(std::span<const std::byte> bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  return sizeof size + size;
}

/// Reads what has arrived into `received`, and takes the first whole frame out of it.
inline std::optional<Bytes> try_take_frame(Connection& connection, Bytes& received) {
  std::array<std::byte, 16 * 1024> buffer;
  while (true) {
    const auto size = frame_size(received);
    if (size && received.size() >= *size) {
      const auto end = received.begin() + static_cast<std::ptrdiff_t>(*size);
      Bytes body(received.begin() + sizeof(std::uint32_t), end);
      received.erase(received.begin(), end);
      return body;
    }
    const auto piece = std::span<const std::byte>(buffer).first(connection.try_read(buffer));
    if (piece.empty()) return std::nullopt;
    // Nearly always it is one frame, which need not be collected first.
    if (received.empty() && frame_size(piece) == piece.size()) {
      return Bytes(piece.begin() + sizeof(std::uint32_t), piece.end());
    }
    received.insert(received.end(), piece.begin(), piece.end());
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

/// The frame of an answer.
inline Bytes framed(AnswerKind kind, std::span<const std::byte> rest) {
  Encoder out;
  out.number(static_cast<std::uint32_t>(sizeof kind + rest.size()));
  out.number(static_cast<std::uint8_t>(kind));
  out.raw(rest.data(), rest.size());
  return out.take();
}

}  // namespace millrace::sim
