#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/properties/campaign.hpp"

namespace millrace::tool {

/// A campaign that is over, with what only the tool knows of it.
struct TestReport {
  std::string job;
  std::uint64_t campaign_seed = 1;
  bool is_random = false;         ///< Every run had a job and an input of its own.
  std::uint64_t records = 0;      ///< Of the input; of random ones, in all runs together.
  std::uint64_t whole_input = 0;  ///< Records that the input had before it was cut.
  properties::CampaignReport campaign;
  double seconds = 0;
  double processor_seconds = 0;
  std::vector<std::string> cases;           ///< Paths.
  std::optional<std::string> interleaving;  ///< How the result depends on it, if it does.
};

/// `0, 41,021`, with commas.
std::string grouped(std::uint64_t number);

void print_table(const TestReport& report);
void print_json(const TestReport& report);

}  // namespace millrace::tool
