#include "millrace/runtime/coordinator/restarts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/runtime/job/names.hpp"

namespace millrace {

std::optional<std::chrono::nanoseconds> Restarts::next(Instant now) {
  if (options_.within) {
    while (!counted_.empty() && now - counted_.front() >= *options_.within) counted_.pop_front();
  }
  if (counted_.size() >= options_.attempts) return std::nullopt;
  counted_.push_back(now);
  const std::chrono::nanoseconds pause = delay_;
  if (options_.strategy == RestartOptions::Strategy::exponential) {
    delay_ = pause > options_.max_delay / 2 ? options_.max_delay : pause * 2;
  }
  return pause;
}

void Restarts::reset() {
  delay_ = options_.delay;
  if (!options_.within) counted_.clear();
}

std::string Restarts::gave_up() const {
  const std::string count = fmt::format("gave up after {} restart{}", options_.attempts,
                                        options_.attempts == 1 ? "" : "s");
  return options_.within
             ? fmt::format("{} within {}", count,
                           describe(std::chrono::duration_cast<Duration>(*options_.within)))
             : count + " without a completed checkpoint";
}

bool Restarts::is_poison(const std::string& error) { return ++errors_[error] >= most_of_one_error; }

}  // namespace millrace
