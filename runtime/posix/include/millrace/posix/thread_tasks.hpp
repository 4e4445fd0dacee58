#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/env/env.hpp"
#include "millrace/posix/task_registry.hpp"
#include "millrace/posix/thread_parker.hpp"

namespace millrace::posix {

/// What all tasks of a node share. Outlives them.
struct NodeDevices {
  std::string node;
  TaskRegistry& registry;
  Clock& clock;
  Network& network;
  Disk& disk;
  ObjectStore& store;
  LogReader& log;
  SinkTables& sinks;
  Host& host;
  Landmarks& landmarks;
  UserCode& user_code;
};

/// Runs `body` in the calling thread, as a task of the node. Whatever it throws comes out, also
/// Cancelled.
void run_as_task(const NodeDevices& devices, const std::string& role,
                 const std::shared_ptr<ThreadParker>& parker,
                 const std::function<void(Env&)>& body);

/// Starts tasks on a node, each in a thread of its own.
///
/// Of what leaves a task's body only Cancelled is expected. An error that gets so far was nobody's
/// to handle, so the process prints the role and the error and ends; the same happens to a task
/// that goes on for a minute after its handle has gone away (PROTOCOL 9).
class ThreadTasks final : public Tasks {
 public:
  /// `starter` is unparked by the end of each task, and waits in `join`.
  ThreadTasks(const NodeDevices& devices, std::shared_ptr<ThreadParker> starter);

  /// Throws WorldError: the operating system gives no more threads.
  std::unique_ptr<RunningTask> start(std::string role, std::function<void(Env&)> body) override;

 private:
  const NodeDevices& devices_;
  std::shared_ptr<ThreadParker> starter_;
};

}  // namespace millrace::posix
