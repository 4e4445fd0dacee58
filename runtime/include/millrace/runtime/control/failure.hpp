#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "millrace/env/error.hpp"

namespace millrace {

/// Why a task ended before the job, as it is told to the coordinator.
struct Failure {
  enum class Kind : std::uint8_t {
    world = 1,     ///< The world failed: a takeover repairs it.
    usage = 2,     ///< The user must change something. Never retried.
    failed = 3,    ///< The job cannot go on by repeating. Never retried.
    refused = 4,   ///< Millrace will not go on with what it found. Never retried.
    function = 5,  ///< A function of the user's threw: a takeover, but not for ever.
  };
  Kind kind = Kind::world;
  Refusal refusal = Refusal::already_owned;  ///< For `refused` only.
  std::string text;

  friend bool operator==(const Failure&, const Failure&) = default;
};

constexpr bool is_known(Failure::Kind kind) {
  return kind >= Failure::Kind::world && kind <= Failure::Kind::function;
}

/// Whether trying again is of no use.
inline bool is_permanent(const Failure& failure) {
  return failure.kind != Failure::Kind::world && failure.kind != Failure::Kind::function;
}

/// What an error that ended a task means. Anything that is none of ours is thrown again: it is a
/// bug, and not for us to handle.
Failure describe_failure(std::exception_ptr error, const std::string& role);

/// Throws the error again that a permanent failure describes.
[[noreturn]] void throw_failure(const Failure& failure);

}  // namespace millrace
