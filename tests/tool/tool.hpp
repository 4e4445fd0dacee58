#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace millrace::tests {

/// How a run of the tool ended, and what it said.
struct ToolEnd {
  int exit_code = -1;  ///< -1: a signal ended it.
  int signal = 0;
  std::string output;
  std::string errors;
};

/// A run of the built `millrace` in a process of its own, with a directory of its own choosing.
///
/// Nothing is read from the process before its end, so it never waits for the test.
class Tool {
 public:
  using Words = std::vector<std::string>;

  /// Starts it. `environment` has lines `NAME=value`, beside what the test itself was given; an
  /// anchor that was meant for the test is not passed on.
  Tool(const std::string& directory, const Words& arguments, const Words& environment = {});
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;
  ~Tool();  ///< Kills it, if nobody has waited for its end.

  pid_t process() const { return process_; }
  void send(int signal) const;
  /// Whether it has ended, without waiting.
  bool has_ended();
  /// What it has said so far.
  std::string output() const;
  /// Waits for its end.
  ToolEnd wait();

 private:
  pid_t process_ = -1;
  int output_ = -1;
  int errors_ = -1;
  bool is_reaped_ = false;
  int status_ = 0;
};

/// Runs the tool to its end.
ToolEnd run_tool_in(const std::string& directory, const Tool::Words& arguments,
                    const Tool::Words& environment = {});

/// The environment of a run that kills itself at an anchor.
Tool::Words killed_at(const std::string& anchor);

}  // namespace millrace::tests
