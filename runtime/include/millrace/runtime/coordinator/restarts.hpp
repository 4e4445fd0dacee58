#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "millrace/env/instant.hpp"
#include "millrace/runtime/checkpoint_options.hpp"

namespace millrace {

/// How long to wait before a takeover that repairs a failure, and when to stop trying. Pure but for
/// what it remembers.
class Restarts {
 public:
  explicit Restarts(const RestartOptions& options = {})
      : options_(options), delay_(options.delay) {}

  /// Something failed at `now`, which never goes back. The pause before the next attempt; nothing:
  /// all attempts were used up, and another would not help.
  std::optional<std::chrono::nanoseconds> next(Instant now);
  /// A checkpoint was completed: things work. The next pause is a first one, and attempts that are
  /// counted since then are all there again.
  void reset();

  /// What next() says nothing for, in words: `gave up after 10 restarts without a completed
  /// checkpoint`.
  std::string gave_up() const;

  /// A function of the user's threw `error`, which tells where. Returns whether it did so at the
  /// same place for the third time: then the record is poisonous, and comes back whatever else goes
  /// on. Progress in between says nothing, because the restart is from before the record.
  bool is_poison(const std::string& error);

  static constexpr int most_of_one_error = 3;

 private:
  RestartOptions options_;
  std::chrono::nanoseconds delay_;  ///< The next one.
  std::deque<Instant> counted_;     ///< When the attempts were made that still count.
  std::map<std::string, int> errors_;
};

}  // namespace millrace
