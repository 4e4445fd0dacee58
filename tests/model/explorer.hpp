#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invariants.hpp"
#include "rules.hpp"
#include "steps.hpp"

namespace millrace::model {

/// The shortest way to a broken claim.
struct CounterExample {
  Claim broken{};
  std::vector<std::string> story;  ///< A sentence a step.
};

struct Exploration {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
  std::uint64_t longest = 0;          ///< Steps to the state that is farthest from the beginning.
  std::uint64_t ends = 0;             ///< States in which nothing can happen but crashes.
  std::uint64_t ends_with_owner = 0;  ///< Of those, where the job still has an owner.
  std::array<std::uint64_t, sights> seen{};
  bool exhausted = false;  ///< Every state that can be reached was looked at.
  std::optional<CounterExample> counter_example;

  std::uint64_t times(Sight sight) const { return seen[static_cast<std::size_t>(sight)]; }
};

/// Visits every state that can be reached, breadth first, each once, and checks in each what is
/// `held`. Ends early at the first that is broken, or when there are more than `most_states`: then
/// it is not `exhausted`. States are kept and compared whole, so no collision of hashes hides one.
Exploration explore(const Rules& rules, const Bounds& bounds, ClaimSet held,
                    std::uint64_t most_states);

/// For people: how much was looked at, and what was found.
std::string report(const Exploration& exploration);

}  // namespace millrace::model
