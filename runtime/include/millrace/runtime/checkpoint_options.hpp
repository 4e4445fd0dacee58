#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace millrace {

/// When a job takes checkpoints, and when it gives one up. All spans by the clock.
struct CheckpointOptions {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);  ///< From one to the next; above 0.
  /// At least so long from the end of one to the next; 0 or more.
  std::chrono::nanoseconds min_pause{0};
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);  ///< Then it is given up; above 0.
  /// So many in a row may fail; one more, and the job restarts from its last completed one.
  std::uint32_t tolerable_failures = 3;
  /// So many completed checkpoints are kept, the newest among them; 1 or more. A recovery needs
  /// one.
  std::uint32_t retained = 1;
  friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

/// How a job comes back from a failure, and when that is no use any more. All spans by the clock,
/// 0 or more.
struct RestartOptions {
  enum class Strategy : std::uint8_t { fixed, exponential };

  Strategy strategy = Strategy::exponential;
  std::chrono::nanoseconds delay = std::chrono::milliseconds(100);  ///< Before the first restart.
  /// Delays that double stop here: at least `delay`. A fixed strategy has no use for it.
  std::chrono::nanoseconds max_delay = std::chrono::seconds(5);
  std::uint32_t attempts =
      10;  ///< So many restarts, and no more; 0: the first failure is the last.
  /// In what span `attempts` are counted, above 0; nothing: since the last completed checkpoint.
  std::optional<std::chrono::nanoseconds> within;
  friend bool operator==(const RestartOptions&, const RestartOptions&) = default;
};

}  // namespace millrace
