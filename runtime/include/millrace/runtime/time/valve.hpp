#pragma once

#include <optional>
#include <vector>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// What has changed behind a valve.
struct ValveAction {
  std::optional<EventTime> watermark;  ///< It has risen to this. Told before `idle`.
  std::optional<bool> idle;            ///< All inputs have become idle; or one is active again.
  friend bool operator==(const ValveAction&, const ValveAction&) = default;
};

/// Merges the watermarks of several inputs: lanes of a task, or partitions of a source. Pure.
///
/// The merged watermark is the smallest among the newest of each input (WM-2). It never goes back.
/// An idle input does not count (WM-3); when it is active again it counts as soon as it has caught
/// up, and holds nobody back before (WM-4). When the last active input falls idle and was the one
/// that held the others back, the largest watermark of all goes through first: nothing more is
/// known to come.
///
/// An input that has ended (its watermark is the largest there is) is neither: the rest decide, and
/// the end goes through when all have ended and not because the others are idle.
class Valve {
 public:
  explicit Valve(int inputs) : inputs_(static_cast<std::size_t>(inputs)) {}

  /// A watermark has come on `input`, which is thereby active.
  ValveAction advance(int input, EventTime watermark);
  /// Rows have come on `input`, or it says that it expects some.
  ValveAction wake(int input);
  /// `input` says that nothing is to be expected for now.
  ValveAction set_idle(int input);

  EventTime merged() const { return merged_; }
  bool is_idle() const { return is_idle_; }

 private:
  struct Input {
    EventTime watermark = EventTime::min();
    bool is_active = true;
    bool has_caught_up = true;
    bool has_ended() const { return watermark == EventTime::max(); }
  };
  void activate(Input& input);
  ValveAction settle(bool held_others_back);
  Input& at(int input) { return inputs_[static_cast<std::size_t>(input)]; }

  std::vector<Input> inputs_;
  EventTime merged_ = EventTime::min();
  bool is_idle_ = false;
};

}  // namespace millrace
