#pragma once

#include <string>
#include <vector>

#include "millrace/properties/campaign.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/properties/experiment.hpp"

namespace millrace::tool {

/// The case of what a campaign found, as it goes into a file: what was seen, and without the faults
/// of its plan that never happened, if it comes to the same without them.
properties::Case case_of(const properties::Finding& finding, const properties::Subject& subject,
                         const JobSpec& spec);

/// Makes `directory` if it is not there. Said before the runs, not after them.
/// Throws UsageError: no file can be made in it.
void ensure_writable(const std::string& directory);

/// Writes a case into `directory`, which is made if it is not there. Returns the path.
/// Throws UsageError: it cannot be written.
std::string save_case(const std::string& directory, const properties::Case& made,
                      const properties::Outcome& outcome);

/// Reads a case; files that it refers to are beside it.
properties::Case load_case(const std::string& path);

}  // namespace millrace::tool
