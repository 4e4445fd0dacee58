#include "figures.hpp"

#include <fmt/format.h>

namespace millrace::tool {

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  std::size_t unit = 0;
  std::uint64_t size = bytes;  // In units of which 1024 are one of `units[unit]`.
  while (size >= 1024 * 1024 && unit + 1 < std::size(units)) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{}.{} {}", size / 1024, size % 1024 * 10 / 1024, units[unit]);
}

}  // namespace millrace::tool
