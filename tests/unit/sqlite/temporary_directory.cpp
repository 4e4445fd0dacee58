#include "temporary_directory.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <stdlib.h>

namespace millrace {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "millrace-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

void copy_database(const std::string& from, const std::string& to) {
  for (const char* suffix : {"", "-wal", "-journal"}) {
    if (std::filesystem::exists(from + suffix)) write_file(to + suffix, bytes_of(from + suffix));
  }
}

}  // namespace millrace
