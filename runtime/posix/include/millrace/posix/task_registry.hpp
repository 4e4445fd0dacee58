#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "millrace/posix/thread_parker.hpp"

namespace millrace::posix {

/// Which thread of the process runs which task.
///
/// Calls that wait inside a device, such as a write to a slow connection, are handed no Env; here
/// they find the parker of the task that makes them, and with it the task's cancellation.
class TaskRegistry {
 public:
  /// The calling thread runs a task from now on. No two tasks on a node have one role.
  void enter(std::string_view node, std::string_view role, ThreadParker& parker);
  void leave();

  /// The parker of the task that the calling thread runs. The devices of the seam are used by tasks
  /// only.
  ThreadParker& parker_of_this_thread();

  std::size_t count() const;

 private:
  struct Task {
    std::string name;
    ThreadParker* parker;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::thread::id, Task> tasks_;
};

}  // namespace millrace::posix
