#pragma once

#include <string>
#include <string_view>

#include "millrace/env/clock.hpp"

#include "descriptor.hpp"

namespace millrace::posix {

/// The log of a run: a text file with a line for everything that happened, with its time.
///
/// Any number of tasks may write; a line is written whole, at once, so nothing of it is lost when
/// the process is killed. A line that cannot be written is dropped: the run matters more.
class RunLog {
 public:
  /// Goes on with `path`. Empty: nothing is written. Throws UsageError: it cannot be opened.
  RunLog(const std::string& path, Clock& clock);

  bool is_open() const { return file_.is_open(); }
  void line(std::string_view text);

 private:
  Clock& clock_;
  Descriptor file_;
};

}  // namespace millrace::posix
