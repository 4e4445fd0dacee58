#pragma once

#include <cstdint>
#include <optional>

#include "millrace/env/sink_table.hpp"

namespace millrace {

/// What a publish has to do.
enum class PublishDecision : std::uint8_t {
  insert,  ///< Insert the batches above the marker, and raise the marker.
  repeat,  ///< The rows are there already. What was read must still be made durable.
  refuse,  ///< Somebody else owns the sink, or nobody: touch nothing.
};

/// Decides about a publish of checkpoint `id` by the owner of `term` from the marker that its own
/// transaction read (PROTOCOL 2.3). Pure.
PublishDecision decide_publish(const std::optional<Marker>& marker, Lineage lineage, Term term,
                               CheckpointId id);

/// Whether the owner of `term` may write at once (PROTOCOL 4.1): only while the sink is fenced for
/// just its term. Pure.
bool may_write(const std::optional<Marker>& marker, Lineage lineage, Term term);

}  // namespace millrace
