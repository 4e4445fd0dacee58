#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

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

  /// A function of the user's threw `error`, which tells where. Returns whether it did so at the
  /// same place for the third time: then the record is poisonous, and comes back whatever else goes
  /// on. Progress in between says nothing, because the restart is from before the record.
  bool is_poison(const std::string& error);

  static constexpr int most_of_one_error = 3;

 private:
  int since_progress_ = 0;
  std::map<std::string, int> errors_;
};

}  // namespace millrace
