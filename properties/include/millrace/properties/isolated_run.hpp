#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "millrace/env/workers.hpp"
#include "millrace/properties/experiment.hpp"

namespace millrace::properties {

/// Runs a case as `run_case` does, in a process of its own: should the process die, then that is
/// the outcome, `crashed`, and whoever asked lives on.
///
/// `go_on` is called several times a second; false ends the run, and there is no outcome.
/// Throws UsageError: the case names what its world does not have.
std::optional<Outcome> run_isolated(const Case& scenario, const Subject& subject, Workers& workers,
                                    const std::function<bool()>& go_on);

/// The draws of a run that were not 0, of a case that is run in a process of its own. Nothing if
/// that process dies, or was not to go on.
/// Throws UsageError: the case names what its world does not have.
std::optional<std::vector<sim::Drawn>> draws_of_isolated(const Case& scenario,
                                                         const Subject& subject, Workers& workers,
                                                         const std::function<bool()>& go_on);

}  // namespace millrace::properties
