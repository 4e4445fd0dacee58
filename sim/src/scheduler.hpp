#pragma once

#include <cstdint>
#include <vector>

#include "millrace/env/instant.hpp"
#include "millrace/sim/draws.hpp"
#include "millrace/sim/trace.hpp"

namespace millrace::sim {

class Task;
struct Node;

/// Something that happens at an instant of virtual time. Belongs to whoever scheduled it, and must
/// live until it fires.
class Event {
 public:
  virtual ~Event() = default;
  virtual void fire() = 0;
};

/// Which task runs next, and when time goes on.
///
/// Tasks that are ready run in an order that the seed decides; time stands still until none is.
/// Then the earliest event fires; equal instants in the order in which they were scheduled.
class Scheduler {
 public:
  Scheduler(Seed seed, Trace& trace) : seed_(seed), trace_(trace) {}

  Instant now() const { return now_; }
  /// The task that is running, or null on the main stack.
  Task* current() const { return current_; }

  /// Puts a task into the ready set; it must not be in it.
  void make_ready(Task& task);
  void schedule(Instant at, Event& event);

  /// Runs tasks and lets time go on, until somebody interrupts, or until no task is ready and the
  /// next event is behind `limit`.
  void run(Instant limit);
  /// Ends `run` before anything else happens: somebody else has to act first.
  void interrupt() { interrupted_ = true; }
  /// Lets time go on to `instant`, before which nothing happens.
  void skip_to(Instant instant);
  /// When the next event fires, if no task is ready before.
  Instant next_event() const { return timers_.empty() ? Instant::never() : timers_.front().at; }
  bool any_ready() const { return !ready_.empty(); }

  /// Takes the tasks of a node out of the ready set, and gives them to `removed` in the order in
  /// which they became ready.
  void remove_all(const Node& node, std::vector<Task*>* removed);

  /// Resumes `task` now, out of turn. Only for unwinding the dead.
  void resume(Task& task);

  std::uint64_t switches() const { return switches_; }

 private:
  void run_next();
  void fire_next();
  void switch_to(Task& task);

  struct Ready {
    std::uint64_t rank;
    std::uint64_t order;
    std::uint64_t since;  ///< How many switches there had been.
    Task* task;
  };
  struct Timer {
    Instant at;
    std::uint64_t order;
    Event* event;
    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  Seed seed_;
  Trace& trace_;
  Instant now_;
  Task* current_ = nullptr;
  std::vector<Ready> ready_;   ///< Few at a time: looked through for the smallest rank.
  std::vector<Timer> timers_;  ///< A heap, earliest first.
  std::uint64_t order_ = 0;
  std::uint64_t switches_ = 0;
  bool interrupted_ = false;
};

}  // namespace millrace::sim
