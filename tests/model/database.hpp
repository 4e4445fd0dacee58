#pragma once

#include <cstdint>
#include <vector>

#include "millrace/env/identity.hpp"
#include "millrace/env/sink_table.hpp"

#include "catalogue.hpp"
#include "rules.hpp"
#include "world.hpp"

namespace millrace::model {

// The sink's database over the product's decisions. Each function is one transaction.

/// What a takeover of `term` that restored a manifest is told.
Fenced fence(World& world, const Rules& rules, const KnownManifest& restored, Term term);

enum class PublishResult : std::uint8_t {
  inserted,     ///< The marker is now at the checkpoint, and the rows up to it are visible.
  repeated,     ///< It was there or above already.
  turned_away,  ///< The fence.
  unreadable,   ///< Staged rows that it needed are not there. Nothing was changed.
};
/// `objects` are those that the committer gives to it.
PublishResult publish(World& world, Lineage lineage, Term term, CheckpointId id,
                      const std::vector<Needed>& objects);

}  // namespace millrace::model
