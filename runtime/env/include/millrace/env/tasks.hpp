#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/env/instant.hpp"

namespace millrace {

struct Env;

/// A task that was started: a thread in the real world, a fiber in the simulated one.
///
/// Whoever starts a task joins it before letting go of the handle and of anything that the task
/// refers to. A handle that goes away earlier, because its owner was itself killed or cancelled,
/// cancels the task; in the real world it also waits for its end, which is the one place where a
/// destructor waits.
class RunningTask {
 public:
  virtual ~RunningTask() = default;

  /// Makes the present and every later blocking call of the task throw Cancelled.
  virtual void cancel() = 0;

  /// Waits for the task's end. The end of a task unparks the task that started it, so `join` may
  /// also be called with a deadline in the past, to look. Returns whether the task has ended.
  /// Throws Cancelled, Killed.
  virtual bool join(Instant deadline) = 0;
};

/// Starts tasks on this node.
class Tasks {
 public:
  virtual ~Tasks() = default;

  /// Runs `body` as a task with an environment of its own. `role` is its name for anchors, chance
  /// and logs, such as `window.1`; no two tasks that live at once on a node share one.
  ///
  /// `body` handles every error that it can meet. Only Cancelled and Killed may leave it.
  virtual std::unique_ptr<RunningTask> start(std::string role, std::function<void(Env&)> body) = 0;
};

}  // namespace millrace
