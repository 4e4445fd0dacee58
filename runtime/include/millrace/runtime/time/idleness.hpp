#pragma once

#include <chrono>
#include <optional>

namespace millrace {

/// Decides when a partition that gives nothing is idle: when its reader has waited for it for
/// longer than `after` since the last record (WM-7). Nothing: never.
///
/// Only waiting counts. Time in which the source is held up, or has others to read, tells nothing
/// about the partition. Not part of a checkpoint: after a restart everything is active.
class Idleness {
 public:
  using Span = std::chrono::nanoseconds;

  Idleness() = default;
  explicit Idleness(std::optional<Span> after) : after_(after) {}

  void observe() { waited_ = Span{0}; }
  void wait(Span span) { waited_ += span; }

  bool is_idle() const { return after_ && waited_ > *after_; }
  /// How much more waiting makes it idle; nothing: it is, or none does.
  std::optional<Span> patience() const {
    if (!after_ || is_idle()) return std::nullopt;
    return *after_ - waited_ + Span{1};
  }

 private:
  std::optional<Span> after_;
  Span waited_{0};
};

}  // namespace millrace
