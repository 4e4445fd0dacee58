#include "millrace/posix/port_table.hpp"

namespace millrace::posix {

bool PortTable::add(const Endpoint& at, std::uint16_t port) {
  const std::lock_guard lock(mutex_);
  return ports_.try_emplace(at, port).second;
}

void PortTable::remove(const Endpoint& at) {
  const std::lock_guard lock(mutex_);
  ports_.erase(at);
}

std::optional<std::uint16_t> PortTable::find(const Endpoint& at) const {
  const std::lock_guard lock(mutex_);
  const auto found = ports_.find(at);
  if (found == ports_.end()) return std::nullopt;
  return found->second;
}

}  // namespace millrace::posix
