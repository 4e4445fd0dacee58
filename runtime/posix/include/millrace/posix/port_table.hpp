#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "millrace/env/network.hpp"

namespace millrace::posix {

/// Which service has which TCP port. The kernel chooses the ports, so whoever connects asks here.
class PortTable {
 public:
  /// False: the endpoint has a port already.
  bool add(const Endpoint& at, std::uint16_t port);
  void remove(const Endpoint& at);
  std::optional<std::uint16_t> find(const Endpoint& at) const;

 private:
  mutable std::mutex mutex_;
  std::map<Endpoint, std::uint16_t> ports_;
};

}  // namespace millrace::posix
