#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/identity.hpp"

namespace millrace {

/// How far a job has come, for people.
struct Progress {
  enum class State : std::uint8_t { starting, recovering, running, finishing, finished, failed };
  State state = State::starting;
  Term term;
  CheckpointId completed;
  CheckpointId published;
  std::uint64_t records_read = 0;     ///< In the present term, checkpointed or not.
  std::uint64_t records_done = 0;     ///< Since genesis, up to the completed checkpoint: exact.
  std::uint64_t records_skipped = 0;  ///< Of those.
  std::uint64_t records_late = 0;     ///< Of those.
  std::uint64_t rows_published = 0;   ///< In the present term.
  /// The longest that a record has waited in the present term until its rows were visible.
  std::chrono::nanoseconds visible_delay{0};
};

/// What a node knows of its surroundings, and what its surroundings want of it.
class Host {
 public:
  virtual ~Host() = default;

  /// The nodes of a kind, `coordinator` or `worker`, in a fixed order.
  virtual std::vector<std::string> peers(std::string_view kind) = 0;

  /// Whether somebody asked the job to stop: one more checkpoint, then the end, resumable.
  virtual bool stop_requested() = 0;

  virtual void report(const Progress& progress) = 0;

  /// A sentence for the log of the run.
  virtual void note(std::string_view sentence) = 0;
};

}  // namespace millrace
