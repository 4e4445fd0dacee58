#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/env/identity.hpp"
#include "millrace/env/log.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/state/checkpoint.hpp"

namespace millrace {

/// A partition as genesis found it. Fixed for the life of the job.
struct ManifestPartition {
  PartitionFacts facts;
  PartitionProgress progress;
  friend bool operator==(const ManifestPartition& a, const ManifestPartition& b) {
    return a.facts.name == b.facts.name && a.facts.end == b.facts.end &&
           a.facts.head_hash == b.facts.head_hash && a.progress == b.progress;
  }
};

/// An earlier completed checkpoint that is kept: its manifest and all that this reaches but staged
/// rows, which are visible by then or listed by the manifest that keeps it.
struct KeptCheckpoint {
  CheckpointId id;
  CheckpointKind kind = CheckpointKind::periodic;
  std::uint64_t request = 0;
  std::string manifest;
  std::uint64_t manifest_checksum = 0;
  std::vector<std::string> objects;
  std::uint64_t size_bytes = 0;  ///< Of the sections in them.
  friend bool operator==(const KeptCheckpoint&, const KeptCheckpoint&) = default;
};

/// A completed checkpoint: everything that a takeover needs, by value or by name (MANIFEST.md).
struct Manifest {
  Lineage lineage;
  CheckpointId id;
  std::vector<FingerprintPart> fingerprint;
  std::uint32_t key_groups = 0;
  std::uint32_t parallelism = 0;              ///< Of every operator, when this was taken.
  std::vector<ManifestPartition> partitions;  ///< Sorted by name; number i belongs to i mod p.
  std::vector<OperatorWatermark> watermarks;
  std::vector<StateObject> states;
  std::vector<StagedObject> staged;  ///< Not known to be published when this was taken.
  std::uint64_t records_late = 0;    ///< Dropped so far.
  CheckpointKind kind = CheckpointKind::periodic;
  std::uint64_t request = 0;         ///< Whose number asked for it; 0: nobody's.
  std::vector<KeptCheckpoint> kept;  ///< Earlier ones, ascending.

  /// Whether every partition was read to its end.
  bool has_all_input() const;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

Bytes encode_manifest(const Manifest& manifest);
/// Throws CorruptObject naming `name`.
Manifest decode_manifest(std::span<const std::byte> bytes, std::string_view name);

/// The name under which a manifest is stored.
std::string name_of(const Manifest& manifest);

}  // namespace millrace
