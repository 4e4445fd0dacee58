#pragma once

#include <compare>
#include <cstdint>

namespace millrace::sim {

/// A node of a world: the how-manieth that was added.
struct NodeId {
  std::uint32_t index = 0;
  friend auto operator<=>(NodeId, NodeId) = default;
};

}  // namespace millrace::sim
