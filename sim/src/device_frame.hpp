#pragma once

#include <array>
#include <cstring>
#include <optional>

#include "millrace/env/bytes.hpp"
#include "millrace/env/error.hpp"
#include "millrace/env/network.hpp"

namespace millrace::sim {

// What travels between a device's client and its server: a length and so many bytes. Inside the
// simulator both ends are ours and nothing is corrupted on the way, so there is no checksum.
//
// A frame is written where it is sent from: what devices answer is much of what a run moves.

/// Begins a frame, in place of what was written; the body is added behind. What `end_frame` returns
/// is good until the frame is written to again.
inline void begin_frame(Encoder& frame) {
  frame.clear();
  frame.number(std::uint32_t{0});  // Known at the end.
}
inline std::span<const std::byte> end_frame(Encoder& frame) {
  frame.patch(0, static_cast<std::uint32_t>(frame.size() - sizeof(std::uint32_t)));
  return frame.view();
}

/// The size of the frame that begins there, if that much of it has come.
inline std::optional<std::size_t> frame_size(std::span<const std::byte> bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  return sizeof size + size;
}

/// Reads what has arrived into `received`, and takes the first whole frame out of it: its body
/// replaces what is in `body`. Returns whether there is one.
inline bool try_take_frame(Connection& connection, Bytes& received, Bytes& body) {
  std::array<std::byte, 16 * 1024> buffer;
  while (true) {
    const auto size = frame_size(received);
    if (size && received.size() >= *size) {
      const auto end = received.begin() + static_cast<std::ptrdiff_t>(*size);
      body.assign(received.begin() + sizeof(std::uint32_t), end);
      received.erase(received.begin(), end);
      return true;
    }
    const auto piece = std::span<const std::byte>(buffer).first(connection.try_read(buffer));
    if (piece.empty()) return false;
    // Nearly always it is one frame, which need not be collected first.
    if (received.empty() && frame_size(piece) == piece.size()) {
      body.assign(piece.begin() + sizeof(std::uint32_t), piece.end());
      return true;
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

inline void begin_answer(Encoder& frame, AnswerKind kind) {
  begin_frame(frame);
  frame.number(static_cast<std::uint8_t>(kind));
}

}  // namespace millrace::sim
