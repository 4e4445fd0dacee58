#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "millrace/env/bytes.hpp"
#include "millrace/env/identity.hpp"
#include "millrace/env/object_store.hpp"

namespace millrace {

/// Whether there is still something to do.
enum class JobStatus : std::uint8_t { running = 1, finished = 2, stopped = 3 };

/// What the one register says that owns a job (PROTOCOL 1.1, HEAD.md).
struct Head {
  Term term;
  JobStatus status = JobStatus::running;
  Lineage lineage;
  CheckpointId checkpoint;  ///< What the manifest is of.
  std::string manifest;     ///< Its name in the store.
  std::uint64_t manifest_checksum = 0;
  std::uint64_t nonce = 0;     ///< Tells the swaps of two writers apart.
  std::uint64_t answered = 0;  ///< The newest request that nothing is left to do for; 0: none.
  friend bool operator==(const Head&, const Head&) = default;
};

Bytes encode_head(const Head& head);
/// Throws CorruptObject.
Head decode_head(std::span<const std::byte> bytes);

/// A head and the version of the register that held it.
struct VersionedHead {
  std::uint64_t version = 0;
  std::optional<Head> head;  ///< Nothing: the register was never written.
};

/// What a writer of the head knows after one attempt.
struct SwapFacts {
  SwapOutcome outcome = SwapOutcome::unknown;
  std::optional<Head> found;  ///< After `refused`: what the register holds now.
};

/// What it does next.
enum class SwapStep : std::uint8_t {
  won,     ///< The register holds, or held, what I wrote.
  lost,    ///< Somebody else wrote: I own nothing any more, and send nothing more (PROTOCOL 1.2).
  repeat,  ///< Nobody knows: the same swap again, with the same bytes (PROTOCOL 1.3).
};

/// Pure. `mine` is what was to be written.
SwapStep decide_swap(const SwapFacts& facts, const Head& mine);

}  // namespace millrace
