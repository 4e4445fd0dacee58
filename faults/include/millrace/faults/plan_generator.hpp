#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "millrace/env/landmark.hpp"
#include "millrace/faults/fault.hpp"
#include "millrace/sim/draws.hpp"

namespace millrace::faults {

/// What a plan can be made of.
struct PlanSpace {
  std::vector<std::string> nodes;
  std::vector<const Landmark*> anchors;  ///< Where faults may be aimed at; data landmarks are not.
  std::chrono::nanoseconds span;         ///< Faults at instants fall into it.
  std::uint64_t checkpoints = 10;        ///< About how many there will be, for `nth=`.
};

/// A plan of one to four faults: on any node, at an instant or, mostly, at an anchor, which may
/// have nothing to do with the node. Sometimes the second is aimed at the recovery from the first.
Plan generate_plan(const PlanSpace& space, sim::Draws& draws);

}  // namespace millrace::faults
