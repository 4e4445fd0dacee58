#pragma once

#include <optional>

#include "millrace/env/sink_table.hpp"

namespace millrace {

/// What a fence found at a sink. Gathered first, judged after.
struct FenceFacts {
  FenceRequest request;
  std::optional<Marker> marker;
  bool has_rows = false;  ///< Of the sink's table. Matters only where there is no marker.
};

/// Decides whether a takeover may have a sink, and what the sink's marker is afterwards: another
/// one only if the outcome is `fenced`. Pure.
Fenced decide_fence(const FenceFacts& found);

}  // namespace millrace
