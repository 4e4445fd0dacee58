#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::tests {

/// A line of a run's log that tells of a landmark.
struct LoggedLandmark {
  std::string node;
  std::string role;
  std::string name;
};

/// The landmarks in a log, in its order. Empty if there is no log.
std::vector<LoggedLandmark> read_run_log(const std::string& path);

std::size_t count_of(const std::vector<LoggedLandmark>& log, std::string_view name);

}  // namespace millrace::tests
