#include "millrace/runtime/time/valve.hpp"

#include <algorithm>

namespace millrace {

ValveAction Valve::advance(int input, EventTime watermark) {
  Input& from = at(input);
  const bool held_others_back = from.watermark == merged_;
  activate(from);
  if (watermark > from.watermark) {  // A watermark never goes back.
    from.watermark = watermark;
    from.has_caught_up = from.has_caught_up || watermark >= merged_;
  }
  return settle(held_others_back);
}

ValveAction Valve::wake(int input) {
  activate(at(input));
  return settle(false);
}

ValveAction Valve::set_idle(int input) {
  Input& from = at(input);
  if (!from.is_active) return {};
  from.is_active = false;
  return settle(from.watermark == merged_);
}

void Valve::activate(Input& input) {
  if (input.is_active) return;
  input.is_active = true;
  input.has_caught_up = input.watermark >= merged_;
}

ValveAction Valve::settle(bool held_others_back) {
  bool all_ended = true;
  bool any_active = false;
  EventTime largest = EventTime::min();
  std::optional<EventTime> smallest;
  for (const Input& input : inputs_) {
    if (input.has_ended()) continue;
    all_ended = false;
    any_active = any_active || input.is_active;
    largest = std::max(largest, input.watermark);
    if (!input.is_active || !input.has_caught_up) continue;
    smallest = std::min(smallest.value_or(input.watermark), input.watermark);
  }
  const bool idle = !all_ended && !any_active;
  if (all_ended) smallest = EventTime::max();
  if (idle && held_others_back) smallest = largest;

  ValveAction action;
  if (smallest && *smallest > merged_) action.watermark = merged_ = *smallest;
  if (idle != is_idle_) action.idle = is_idle_ = idle;
  return action;
}

}  // namespace millrace
