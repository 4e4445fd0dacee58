#pragma once

#include <string>
#include <vector>

#include "millrace/properties/campaign.hpp"
#include "millrace/properties/case.hpp"
#include "millrace/properties/experiment.hpp"

namespace millrace::tool {

/// Says in a case what its run was seen to be, and by which build.
void note_seen(properties::Case& made, const properties::Outcome& outcome);

/// The case of what a campaign found, as it goes into a file: what was seen, and without the faults
/// of its plan that never happened, if it comes to the same without them.
properties::Case case_of(const properties::Finding& finding, const properties::Subject& subject);

/// Makes `directory` if it is not there. Said before the runs, not after them.
/// Throws UsageError beginning with `asked`, the user's words for it: no file can be made in it.
void ensure_writable(const std::string& directory, const std::string& asked);

/// What a run turned out to be, as sentences of one line each.
std::vector<std::string> story(const properties::Case& made, const properties::Outcome& outcome);

/// Writes a case into `directory`, which is made if it is not there. Returns the path.
/// Throws UsageError: it cannot be written.
std::string save_case(const std::string& directory, const properties::Case& made,
                      const properties::Outcome& outcome);

/// Writes a case to `path`, with `comments` on top. Files that it refers to are relative to
/// `directory`, as they are in a case that was read there.
/// Throws UsageError: it cannot be written; what was there before still is.
void write_case(const std::string& path, const properties::Case& made,
                const std::vector<std::string>& comments, const std::string& directory);

/// Reads a case; files that it refers to are beside it.
properties::Case load_case(const std::string& path);

/// The comments on top of a case's file, line by line.
std::vector<std::string> comments_on_top(const std::string& path);

}  // namespace millrace::tool
