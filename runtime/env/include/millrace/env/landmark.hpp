#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/env/identity.hpp"

namespace millrace {

/// A moment that somebody may care about: a completed fact, named once and documented with a
/// sentence (PROTOCOL 7). A durable effect has two, `x_begun` and `x_done`.
///
/// One concept with five uses: where a fault can be anchored, what a judge listens to, what
/// coverage counts, what a timeline draws, what a debugger stops at.
struct Landmark {
  /// Protocol landmarks are always on and are what an explorer crashes at one by one; data
  /// landmarks come once a batch and are only counted.
  enum class Kind : std::uint8_t { protocol, data };

  std::string_view name;
  std::string_view meaning;
  Kind kind = Kind::protocol;
};

/// What a landmark is about. Fields that do not apply keep their defaults.
struct LandmarkFields {
  CheckpointId id;                        ///< `term=` and `n=` of an anchor.
  std::int32_t subtask = -1;              ///< `subtask=`.
  std::uint32_t retry = 0;                ///< `retry=`: how often this was tried before.
  std::uint64_t count = 0;                ///< How many: rows, bytes, records.
  std::span<const std::byte> evidence{};  ///< For judges; good only during the call.
};

/// Who is told when a landmark is reached.
class Landmarks {
 public:
  virtual ~Landmarks() = default;

  /// Says that `role` has reached `landmark`. Draws no chance, and lets nobody else run unless a
  /// fault is anchored there; then it may throw Killed. So landmarks stand in no destructor, no
  /// noexcept function and under no lock.
  virtual void reached(const Landmark& landmark, std::string_view role,
                       const LandmarkFields& fields) = 0;
};

}  // namespace millrace
