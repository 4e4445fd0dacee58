#include "node.hpp"

#include <algorithm>
#include <utility>

namespace millrace::sim {
namespace {

void tell_once(TookEffect& took_effect) {
  if (const TookEffect tell = std::exchange(took_effect, nullptr)) tell();
}

}  // namespace

void Node::count_disk_operation() {
  std::vector<std::function<void()>> due;
  std::erase_if(disk_countdowns, [&due](DiskCountdown& countdown) {
    if (--countdown.left != 0) return false;
    due.push_back(std::move(countdown.action));
    return true;
  });
  // Afterwards: an action may wait for a further operation.
  for (const auto& action : due) action();
}

std::optional<DiskTrouble> Node::disk_trouble(bool makes_longer) {
  for (DiskDisturbance& disturbance : disk_disturbances) {
    if (disturbance.trouble == DiskTrouble::full && !makes_longer) continue;
    tell_once(disturbance.took_effect);
    return disturbance.trouble;
  }
  return std::nullopt;
}

std::optional<std::chrono::nanoseconds> Node::take_answer_disturbance(std::string_view operation,
                                                                      bool late) {
  const auto found =
      std::find_if(answer_disturbances.begin(), answer_disturbances.end(),
                   [&](const AnswerDisturbance& disturbance) {
                     return disturbance.by.has_value() == late &&
                            (disturbance.operation == "*" || disturbance.operation == operation);
                   });
  if (found == answer_disturbances.end()) return std::nullopt;
  AnswerDisturbance taken = std::move(*found);
  answer_disturbances.erase(found);
  tell_once(taken.took_effect);
  return taken.by.value_or(std::chrono::nanoseconds(0));
}

void Node::end(Disturbance disturbance) {
  const auto is_it = [disturbance](const auto& one) { return one.is == disturbance; };
  std::erase_if(disk_disturbances, is_it);
  std::erase_if(disk_countdowns, is_it);
  std::erase_if(answer_disturbances, is_it);
}

}  // namespace millrace::sim
