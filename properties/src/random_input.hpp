#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/properties/input.hpp"
#include "millrace/properties/random_job.hpp"
#include "millrace/sim/draws.hpp"

namespace millrace::properties {

/// A source of a random job. All of them have the same fields.
struct RandomSource {
  std::string name;  ///< Empty: it is the only one.
  bool is_csv = false;
};

/// What the input of a random job must know of it. Times in milliseconds.
struct RandomFacts {
  std::vector<RandomSource> sources{{}};
  std::int64_t window = 0;
  std::int64_t disorder = 0;
  bool has_late = false;
  bool is_patient = false;  ///< The job skips bad records, so there are some.
  bool has_null_keys = false;
  std::string_view format = "ms";
};

/// Draws records for such a job.
Input random_input(const RandomFacts& facts, const RandomScope& scope, sim::Draws& draws);

}  // namespace millrace::properties
