#pragma once

#include "millrace/env/log.hpp"

#include "device_client.hpp"

namespace millrace::sim {

/// The log of the cluster, over the network.
class LogClient final : public LogReader {
 public:
  explicit LogClient(Task& task);

  std::vector<PartitionFacts> partitions(const std::string& address, Instant deadline) override;
  std::unique_ptr<PartitionReader> open(const std::string& address, const std::string& partition,
                                        Position from, std::int64_t end) override;

 private:
  Task& task_;
  DeviceClient server_;
};

}  // namespace millrace::sim
