#include "scheduler.hpp"

#include <algorithm>
#include <functional>

#include "millrace/env/invariant.hpp"

#include "task.hpp"

namespace millrace::sim {
namespace {

/// Nobody who is ready waits longer than this, whatever the ranks.
constexpr std::uint64_t most_overtakings = 1000;

}  // namespace

void Scheduler::make_ready(Task& task) {
  // A choice from a set is a ranking, never an index: each task brings its own draw, so one more
  // task moves none of the others (PROTOCOL 6).
  const std::uint64_t order = ++order_;
  const std::uint64_t rank = seed_.quiet && seed_.book == nullptr ? order : task.next_rank();
  ready_.push_back({rank, order, switches_, &task});
}

void Scheduler::schedule(Instant at, Event& event) {
  timers_.push_back({std::max(at, now_), ++order_, &event});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>{});
}

// These three are inline for the same reason as the switch itself.

[[gnu::always_inline]] inline void Scheduler::switch_to(Task& task) {
  invariant(current_ == nullptr, "tasks are resumed from the main stack");
  current_ = &task;
  ++switches_;
  task.run();
  current_ = nullptr;
}

inline void Scheduler::run_next() {
  auto chosen = ready_.begin();
  auto oldest = ready_.begin();
  for (auto it = ready_.begin() + 1; it != ready_.end(); ++it) {
    if (it->rank < chosen->rank || (it->rank == chosen->rank && it->order < chosen->order)) {
      chosen = it;
    }
    if (it->order < oldest->order) oldest = it;
  }
  if (switches_ - oldest->since >= most_overtakings) chosen = oldest;
  Task& task = *chosen->task;
  *chosen = ready_.back();
  ready_.pop_back();
  trace_.record(EventKind::resumed, task.id(), 0, 0, now_.ns);
  switch_to(task);
}

inline void Scheduler::fire_next() {
  std::pop_heap(timers_.begin(), timers_.end(), std::greater<>{});
  const Timer timer = timers_.back();
  timers_.pop_back();
  skip_to(timer.at);
  timer.event->fire();
}

void Scheduler::run(Instant limit) {
  interrupted_ = false;
  while (!interrupted_) {
    if (!ready_.empty()) {
      run_next();
    } else if (!timers_.empty() && timers_.front().at <= limit) {
      fire_next();
    } else {
      return;
    }
  }
}

void Scheduler::skip_to(Instant instant) {
  if (instant <= now_) return;
  now_ = instant;
  trace_.record(EventKind::time, static_cast<std::uint64_t>(now_.ns), 0, 0, now_.ns);
}

void Scheduler::remove_all(const Node& node, std::vector<Task*>* removed) {
  const auto mine = std::stable_partition(ready_.begin(), ready_.end(), [&](const Ready& ready) {
    return &ready.task->node() != &node;
  });
  std::sort(mine, ready_.end(), [](const Ready& a, const Ready& b) { return a.order < b.order; });
  if (removed != nullptr) {
    for (auto it = mine; it != ready_.end(); ++it) removed->push_back(it->task);
  }
  ready_.erase(mine, ready_.end());
}

void Scheduler::resume(Task& task) { switch_to(task); }

}  // namespace millrace::sim
