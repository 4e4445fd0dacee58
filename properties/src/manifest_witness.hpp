#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/env/identity.hpp"
#include "millrace/properties/reference.hpp"

namespace millrace::properties {

/// What a manifest claims to have read, and where it keeps its state. Read from its bytes by the
/// judges themselves, so that an error in how the processor reads its manifests cannot hide one in
/// how it writes them.
struct Witness {
  Lineage lineage;
  CheckpointId id;
  std::vector<std::string> sources;  ///< Of each partition that it tells of,
  std::vector<Claim> claims;         ///< and how far that was read, by its own name.
  std::vector<std::string> states;   ///< Names of objects.
  std::vector<std::string> staged;   ///< The same, of rows that are not known to be visible.
  std::uint64_t records_late = 0;    ///< Dropped so far.
  std::vector<std::string> kept;     ///< Names of objects of earlier checkpoints.
};

/// Throws CorruptObject.
Witness read_witness(std::span<const std::byte> manifest);

/// The checkpoint that a job's head names, out of the file in which a directory store keeps it;
/// nothing if the file does not hold a whole register.
std::optional<CheckpointId> read_decided(std::span<const std::byte> register_file);

}  // namespace millrace::properties
