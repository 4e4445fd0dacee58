#pragma once

#include <chrono>
#include <optional>

namespace millrace {

/// How long to wait before a takeover that repairs a failure, and when to stop trying. Pure but for
/// what it remembers.
class Restarts {
 public:
  /// The pause before the next attempt: 100 ms, doubling to 5 s. Nothing: there were 10 without a
  /// completed checkpoint in between, and another would not help.
  std::optional<std::chrono::nanoseconds> next();
  /// A checkpoint was completed: things work.
  void reset() { since_progress_ = 0; }

  static constexpr int most_without_progress = 10;

 private:
  int since_progress_ = 0;
};

}  // namespace millrace
