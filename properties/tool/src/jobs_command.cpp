#include <fmt/format.h>

#include "commands.hpp"

namespace millrace::tool {

int jobs_command(const Jobs& jobs) {
  for (const properties::UserJob& job : jobs) {
    fmt::print("{}\n  {}\n", job.name, job.about);
    if (!job.places.input.empty()) fmt::print("  reads {}", job.places.input);
    if (!job.places.database.empty()) {
      fmt::print("{}writes {}", job.places.input.empty() ? "  " : ", ", job.places.database);
    }
    fmt::print("\n");
  }
  if (jobs.empty()) fmt::print("this program brings no jobs in C++\n");
  return 0;
}

}  // namespace millrace::tool
