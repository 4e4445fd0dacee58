#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "millrace/env/workers.hpp"
#include "millrace/properties/experiment.hpp"

namespace millrace::properties {

/// Where two runs of one case part.
struct FirstDifference {
  std::uint64_t event = 0;  ///< Its number, from 1.
  std::string one;          ///< What it is in a fresh process; empty: that run is over.
  std::string other;        ///< In a process in which the case has run before.
  std::string landmark;     ///< What was reached last, before it; empty if nothing was.
};
std::string to_text(const FirstDifference& difference);

/// Runs a case in two processes, one of which has run it before, and compares them event by event
/// (TRACE.md). Nothing: they ran the same, so a difference seen elsewhere comes of something that
/// neither has.
std::optional<FirstDifference> find_first_difference(const Case& scenario, const Subject& subject,
                                                     Workers& workers);

}  // namespace millrace::properties
