#include "millrace/posix/host_facts.hpp"

#include <algorithm>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace millrace::posix {
namespace {

std::chrono::nanoseconds duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

int processor_count() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

std::chrono::nanoseconds children_processor_time() {
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) != 0) return {};
  return duration_of(usage.ru_utime) + duration_of(usage.ru_stime);
}

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

}  // namespace millrace::posix
