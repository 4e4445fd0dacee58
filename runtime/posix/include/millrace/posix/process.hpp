#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/files/directory_store.hpp"
#include "millrace/posix/port_table.hpp"

namespace millrace::posix {

/// How a process is set up.
struct ProcessOptions {
  enum class Networking : std::uint8_t { memory, tcp };
  Networking networking = Networking::memory;
  std::string store_directory;            ///< Where the object store lives.
  std::vector<std::string> coordinators;  ///< The nodes of each kind, as Host::peers tells them.
  std::vector<std::string> workers;
  /// Where every landmark of the protocol and every note becomes a line. Empty: nowhere.
  std::string log_file;
  /// An anchor (PROTOCOL 7). When it is reached the process kills itself with SIGKILL, so that it
  /// ends as hard as by a failure and always at the same place. Empty: none.
  std::string kill_at;
  Services services;  ///< That carry out effects.
};

/// The real world: nodes as groups of threads in one process of the operating system.
///
/// Everything is made here and lent to the tasks, so tasks and their handles must be gone before
/// the process is. All functions may be called from any thread.
class Process {
 public:
  /// Throws UsageError: `kill_at` is no anchor, or the log file cannot be written.
  Process(ProcessOptions options, SinkTables& sinks);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Starts a task on a node. The handle belongs to the thread that made the process: only that one
  /// may wait in its `join`.
  std::unique_ptr<RunningTask> start(const std::string& node, std::string role,
                                     std::function<void(Env&)> body);

  /// Runs `body` in the calling thread, as a task that nobody can cancel. What it throws comes out.
  void run(const std::string& node, const std::string& role, const std::function<void(Env&)>& body);

  /// What Host::stop_requested tells all nodes from now on.
  void request_stop();
  /// What was reported last, by whichever node.
  Progress progress() const;
  /// The notes of all nodes (Host::note) since the last call.
  std::vector<std::string> take_notes();

  Clock& clock();
  Disk& disk();
  DirectoryStore& store();
  /// Of the TCP network; empty for the other one.
  PortTable& ports();

 private:
  class Node;
  class World;

  Node& node(const std::string& name);

  std::unique_ptr<World> world_;
};

}  // namespace millrace::posix
