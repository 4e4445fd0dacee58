#include "job_loading.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/files/file_log.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/runtime/job_file.hpp"

namespace millrace::tool {

std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> piece(1 << 16);
  while (file.read(piece.data(), std::ssize(piece)) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    const char* const reason = errno == 0 ? "it cannot be read" : std::strerror(errno);
    throw UsageError(fmt::format("{}: {}", path, reason));
  }
  return text;
}

JobSpec load_job(const std::string& path, const std::vector<std::string>& settings) {
  std::vector<Setting> parsed;
  for (const std::string& setting : settings) parsed.push_back(parse_setting(setting));
  return parse_job_file(read_text(path), path, parsed);
}

properties::Input load_input(const JobSpec& spec) {
  posix::PosixDisk disk;
  properties::Input input;
  const auto slash = spec.address.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : spec.address.substr(0, slash + 1);
  for (const PartitionFacts& partition : FileLog(disk).partitions(spec.address, Instant::never())) {
    const std::string path = directory + partition.name;
    input.partitions.push_back({partition.name, read_text(path), path});
  }
  return input;
}

}  // namespace millrace::tool
