#pragma once

#include <string>
#include <string_view>

#include "millrace/env/workers.hpp"
#include "millrace/properties/campaign.hpp"

namespace millrace::properties {

/// What a worker process tells its parent, a JSON object a line.
std::string to_line(const CampaignReport& part);
/// Adds what a line says to `report`.
void add_line(CampaignReport& report, std::string_view line);

/// Adds one run.
void add_outcome(CampaignReport& report, std::uint64_t seed, std::size_t planned_faults,
                 const Outcome& outcome);

/// The outcome of a run whose process died of it.
Outcome outcome_of_dead(const ChildEnd& end);

}  // namespace millrace::properties
