#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/instant.hpp"

namespace millrace {

/// What became of a write to the store. `unknown` means that the answer was lost: the object may be
/// there now, later, or never. Repeating the same write with the same bytes is the only way to
/// find out; reading "not there" settles nothing (PROTOCOL 1.3).
enum class PutOutcome : std::uint8_t { stored, unknown };

/// What became of a compare-and-swap. `refused` means that the register had another version than
/// expected at some moment after the call began.
enum class SwapOutcome : std::uint8_t { stored, refused, unknown };

/// A register's content and its version, which rises with every change. A register that was never
/// written has version 0.
struct Versioned {
  std::uint64_t version = 0;
  Bytes bytes;
};

/// An object that is being written. Nobody sees it before `commit`; letting go of it leaves
/// nothing.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;

  virtual void append(std::span<const std::byte> bytes) = 0;

  /// Makes the object visible, whole, under its name; `stored` also means durable. An object that
  /// had the name is replaced. May be called again after `unknown`.
  virtual PutOutcome commit(Instant deadline) = 0;
};

/// Large immutable objects and a few small registers, shared by all nodes of a job.
///
/// An object is visible whole or not at all. Listing may lag behind, so nothing that must be right
/// depends on it. Names are texts of letters, digits, `.`, `-`, `_` and `/`.
///
/// All calls throw Unavailable (no answer by the deadline), WorldError, Cancelled, Killed.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual std::unique_ptr<ObjectWriter> create(std::string_view name) = 0;

  /// Up to `length` bytes of an object from `offset`; fewer only at its end. Nothing: no such
  /// object.
  virtual std::optional<Bytes> read(std::string_view name, std::uint64_t offset,
                                    std::uint64_t length, Instant deadline) = 0;

  /// What a register holds. It was made durable before it was returned: a power loss cannot undo
  /// what somebody has already acted on.
  /// Throws CorruptObject.
  virtual Versioned read_register(std::string_view name, Instant deadline) = 0;

  /// Writes a register if its version is `expected`; its version is then `expected + 1`.
  virtual SwapOutcome put_if_version(std::string_view name, std::uint64_t expected,
                                     std::span<const std::byte> bytes, Instant deadline) = 0;

  /// Removes an object. It is no error if there is none. A power loss may bring it back until a
  /// listing was without it.
  virtual void remove(std::string_view name, Instant deadline) = 0;

  /// Names that begin with `prefix`, sorted; perhaps without the latest changes. What had been
  /// removed and is not among them has been removed durably.
  virtual std::vector<std::string> list(std::string_view prefix, Instant deadline) = 0;
};

/// The whole object, or nothing.
std::optional<Bytes> read_whole(ObjectStore& store, std::string_view name, Instant deadline);

/// Writes `bytes` as one object.
PutOutcome put(ObjectStore& store, std::string_view name, std::span<const std::byte> bytes,
               Instant deadline);

}  // namespace millrace
