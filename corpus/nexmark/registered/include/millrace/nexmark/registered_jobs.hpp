#pragma once

#include <vector>

#include "millrace/properties/user_job.hpp"

namespace millrace::nexmark {

/// The queries under their names, `nexmark.q0` and so on. They read `nexmark/*.jsonl` and write a
/// table each, `q0` and so on, in `nexmark.db`; what they must show comes from nexmark::reference.
///
/// q12 shows each bidder's counts added up, in an upsert table: a clock's windows differ from run
/// to run, and this is what all runs have in common.
std::vector<properties::UserJob> registered_jobs();

}  // namespace millrace::nexmark
