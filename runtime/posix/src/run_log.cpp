#include "run_log.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "millrace/env/error.hpp"

#include "iso_time.hpp"
#include "system_error.hpp"

namespace millrace::posix {

RunLog::RunLog(const std::string& path, Clock& clock) : clock_(clock) {
  if (path.empty()) return;
  file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!is_open()) {
    throw UsageError(fmt::format("cannot write the log {}: {}", path, error_text(errno)));
  }
}

void RunLog::line(std::string_view text) {
  if (!is_open()) return;
  const auto line = fmt::format("{} {}\n", iso_time(clock_.wall()), text);
  [[maybe_unused]] const auto count = ::write(file_.number(), line.data(), line.size());
}

}  // namespace millrace::posix
