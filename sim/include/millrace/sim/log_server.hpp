#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/env.hpp"

namespace millrace::sim {

/// The name of the node at which tasks look for the log.
inline constexpr const char* log_node = "log";

/// When the entries of a log arrive: what a reader can see of each partition, and from when on.
class Arrivals {
 public:
  struct Step {
    Instant at;
    std::int64_t offset;  ///< Bytes before it are there from `at` on.
  };

  /// `partition` is its path below the log's own directory: `a.jsonl`, `left/a.jsonl`. `steps` in
  /// ascending order. A partition without steps is there from the start.
  void set(std::string partition, std::vector<Step> steps) {
    steps_[std::move(partition)] = std::move(steps);
  }
  /// How much of a partition is there at `now`; `end` if all of it.
  std::int64_t visible(std::string_view partition, Instant now, std::int64_t end) const;
  /// When more of it comes; never, if nothing does.
  Instant next(std::string_view partition, Instant now) const;
  /// When the last entry of all arrives.
  Instant last() const;

 private:
  std::map<std::string, std::vector<Step>, std::less<>> steps_;
};

/// The body of the log's node: JSON lines on its disk, served over the network as they arrive.
/// `arrivals` must outlive the node.
void run_log_server(Env& env, const Arrivals& arrivals);

}  // namespace millrace::sim
