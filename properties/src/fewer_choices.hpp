#pragma once

#include <functional>
#include <vector>

#include "millrace/sim/choice.hpp"

namespace millrace::properties {

/// Leaves out of `choices` what a failure does not need, and lowers what is left: a lower value is
/// more harmless. At first whole domains, sites and entities go, then pieces of the list, at last
/// single choices; so a list should be in the order in which the draws were made, where those that
/// belong together are neighbours.
///
/// `fails` says whether a run with these choices, and no others, fails as it should. It is taken to
/// do so with all of them. A `fails` that says no for good ends the search soon.
std::vector<sim::Choice> fewer_choices(
    std::vector<sim::Choice> choices,
    const std::function<bool(const std::vector<sim::Choice>&)>& fails);

}  // namespace millrace::properties
