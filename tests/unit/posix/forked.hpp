#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace millrace::posix {

/// How a process ended, and what it had printed to stderr.
struct ForkedEnd {
  int exit_code = -1;  ///< -1: it was ended by a signal.
  int signal = 0;
  std::string errors;
};

/// Runs `body` in a process of its own, for what would end this one. Its exit code is 0 if the body
/// returns and 99 if it throws.
ForkedEnd run_forked(const std::function<void()>& body);

/// A line that somebody sends to somebody else through a pipe.
class LinePipe {
 public:
  LinePipe();
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;
  ~LinePipe();

  void send(const std::string& line) const;
  /// Waits for a whole line. Empty: nobody can send one any more.
  std::string receive();
  /// Makes `receive` end when all other processes are gone.
  void close_sending();

 private:
  int reading_;
  int writing_;
};

}  // namespace millrace::posix
