#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/properties/experiment.hpp"

namespace millrace::properties {

/// A case of two workers and two subtasks, with a checkpoint every 100 ms and the input arriving
/// within a second. Nothing goes wrong in it but `faults`.
Case case_of(const Subject& subject, const std::vector<std::string>& faults = {},
             std::uint64_t seed = 1);

/// Runs a case on stacks of its own.
Outcome run(const Case& scenario, const Subject& subject, const Observers& observers = {});

/// What a run says of itself, for tests that expect one word: `held`, `breached; visibility: ...`.
std::string story_of(const Outcome& outcome);

}  // namespace millrace::properties
