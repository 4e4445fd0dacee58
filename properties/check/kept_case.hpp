#pragma once

#include <string>

#include "millrace/properties/case.hpp"
#include "millrace/properties/outcome.hpp"

namespace millrace::properties {

/// Writes the case of a run that did not hold into `./millrace-cases/`, and says what there is to
/// know: verdict and judges, the file, and the command that replays it.
std::string keep(Case failed, const Outcome& outcome);

}  // namespace millrace::properties
