#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "millrace/posix/node_networks.hpp"
#include "millrace/posix/task_registry.hpp"

namespace millrace::posix {

/// So much waits in each direction of a connection. A larger frame waits until it is alone.
inline constexpr std::size_t pipe_bytes = std::size_t{256} << 10;

/// Connections between nodes of one process, through memory.
///
/// `connect` never waits: a connection is open before it is accepted. When one side closes, the
/// other still reads what was written before.
class MemoryNetwork final : public NodeNetworks {
 public:
  explicit MemoryNetwork(TaskRegistry& registry);
  ~MemoryNetwork() override;

  std::unique_ptr<Network> of(const std::string& node) override;

 private:
  class Queue;
  class NodeNetwork;
  class OpenListener;

  TaskRegistry& registry_;
  std::mutex mutex_;
  std::map<Endpoint, std::shared_ptr<Queue>> listening_;
};

}  // namespace millrace::posix
