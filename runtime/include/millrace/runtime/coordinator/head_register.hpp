#pragma once

#include "millrace/env/env.hpp"
#include "millrace/runtime/coordinator/head.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"

namespace millrace {

/// Thrown when a swap was refused: somebody else owns the job. Whoever catches it sends nothing
/// more in that term (PROTOCOL 1.2). Derives from nothing, so that it is not repaired like an
/// error.
struct OwnershipLost {};

/// The job's one register in the store, and what one coordinator knows of it.
///
/// Waits for a store that does not answer: to an owner an unknown outcome is no reason for anything
/// but to ask again (PROTOCOL 1.3). After a minute it gives the job up, with JobFailed, from any
/// call.
class HeadRegister {
 public:
  explicit HeadRegister(Env& env) : env_(env) {}

  /// Reads the register, durably.
  /// Throws Refused: what it holds cannot be read.
  const VersionedHead& read();

  /// What was read or written last.
  const VersionedHead& known() const { return known_; }

  /// Makes sure that the register still holds what is known: that whoever holds it may speak.
  /// Throws OwnershipLost.
  void confirm();

  /// Writes `next`, with a nonce of its own, over what is known.
  /// Throws OwnershipLost.
  void swap(Head next);

 private:
  VersionedHead fetch();

  Env& env_;
  VersionedHead known_;
};

/// Writes a manifest under its name, until it is durable.
void store_manifest(Env& env, const Manifest& manifest, std::span<const std::byte> bytes);

/// Reads the manifest that a head names.
/// Throws Refused: it is not there, or not what the head says. An older one would rewind behind
/// rows that are visible already, so none is tried (PROTOCOL 3.3).
Manifest load_manifest(Env& env, const Head& head);

}  // namespace millrace
