#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "millrace/env/landmark.hpp"
#include "millrace/faults/fault.hpp"
#include "millrace/sim/draws.hpp"

namespace millrace::faults {

/// What a plan can be made of. Nothing of it is empty.
struct PlanSpace {
  /// Something that a device is asked for.
  struct Operation {
    std::string node;
    std::string name;
  };
  /// Two nodes that talk to each other.
  struct Link {
    std::string node;
    std::string peer;
  };
  std::vector<std::string> nodes;
  std::vector<Link> links;
  std::vector<Link> control_links;       ///< Of those, the ones with control lanes.
  std::vector<Operation> operations;     ///< Named as often as they are to be chosen.
  std::vector<std::string> disk_nodes;   ///< Of those with a disk that is written.
  std::vector<const Landmark*> anchors;  ///< Where faults may be aimed at; data landmarks are not.
  std::chrono::nanoseconds span;         ///< Faults at instants fall into it.
  std::uint64_t checkpoints = 10;        ///< About how many there will be, for `nth=`.
};

/// A plan of one to four faults of any kind: at an instant, or soon after the one before it, or,
/// mostly, at an anchor, which may have nothing to do with who is struck.
Plan generate_plan(const PlanSpace& space, sim::Draws& draws);

}  // namespace millrace::faults
