#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/runtime/job_spec.hpp"
#include "millrace/sim/draws.hpp"
#include "millrace/sim/log_server.hpp"

namespace millrace::properties {

/// A partition of a run's input: a file of lines, by name.
struct InputPartition {
  std::string name;  ///< Of a job with several sources `SOURCE/NAME`.
  std::string text;
  std::string origin;  ///< The file that begins with this text, if it was read from one.
  friend bool operator==(const InputPartition& a, const InputPartition& b) {
    return a.name == b.name && a.text == b.text;
  }
};

/// What a run reads. Partitions sorted by name.
struct Input {
  std::vector<InputPartition> partitions;
  friend bool operator==(const Input&, const Input&) = default;

  std::uint64_t lines() const;
};

/// What a partition of a source of this job is called in its input.
std::string partition_name(const JobSpec& spec, const std::string& source,
                           const std::string& partition);
/// Whether that is the name of one of its.
bool is_of_source(const JobSpec& spec, const std::string& source, const std::string& name);

/// At most `lines` lines of `whole`, from the beginning of every partition, spread as evenly as the
/// partitions are long. Says how many there are by being counted.
Input head_of(const Input& whole, std::uint64_t lines);

/// When the lines of a run's input arrive: within `span`, in bursts and pauses, every partition at
/// its own pace. The longest partition takes the most of it, shorter ones end sooner.
sim::Arrivals draw_arrivals(const Input& input, std::chrono::nanoseconds span, sim::Draws& draws);

}  // namespace millrace::properties
