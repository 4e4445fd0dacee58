#pragma once

#include <memory>
#include <string>

#include "millrace/posix/node_networks.hpp"
#include "millrace/posix/port_table.hpp"
#include "millrace/posix/task_registry.hpp"

namespace millrace::posix {

class Poller;

/// Connections over TCP on the loopback interface, with ports that the kernel chooses and `ports`
/// knows.
///
/// One thread waits for all sockets and unparks the tasks that are bound to them. A side that
/// closes with something unread resets the connection, and the other side may then lose what it
/// has not read.
class TcpNetwork final : public NodeNetworks {
 public:
  /// Throws IoError: the process can open no more files.
  TcpNetwork(TaskRegistry& registry, PortTable& ports);
  ~TcpNetwork() override;

  std::unique_ptr<Network> of(const std::string& node) override;

 private:
  class NodeNetwork;
  class OpenListener;

  TaskRegistry& registry_;
  PortTable& ports_;
  std::unique_ptr<Poller> poller_;
};

}  // namespace millrace::posix
