#include "run_log.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace millrace::tests {

std::vector<LoggedLandmark> read_run_log(const std::string& path) {
  std::vector<LoggedLandmark> found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string time;
    std::string term;
    LoggedLandmark landmark;
    words >> time >> landmark.node >> landmark.role >> landmark.name >> term;
    // Other lines are notes, which are sentences.
    if (term.starts_with("term=")) found.push_back(std::move(landmark));
  }
  return found;
}

std::size_t count_of(const std::vector<LoggedLandmark>& log, std::string_view name) {
  return static_cast<std::size_t>(std::count_if(
      log.begin(), log.end(), [&](const LoggedLandmark& one) { return one.name == name; }));
}

}  // namespace millrace::tests
