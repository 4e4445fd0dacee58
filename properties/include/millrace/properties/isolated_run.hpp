#pragma once

#include <functional>
#include <optional>

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

}  // namespace millrace::properties
