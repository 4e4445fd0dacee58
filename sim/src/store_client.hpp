#pragma once

#include "millrace/env/object_store.hpp"

#include "device_client.hpp"

namespace millrace::sim {

/// The object store of the cluster, over the network.
class StoreClient final : public ObjectStore {
 public:
  explicit StoreClient(Task& task);

  std::unique_ptr<ObjectWriter> create(std::string_view name) override;
  std::optional<Bytes> read(std::string_view name, std::uint64_t offset, std::uint64_t length,
                            Instant deadline) override;
  Versioned read_register(std::string_view name, Instant deadline) override;
  SwapOutcome put_if_version(std::string_view name, std::uint64_t expected,
                             std::span<const std::byte> bytes, Instant deadline) override;
  void remove(std::string_view name, Instant deadline) override;
  std::vector<std::string> list(std::string_view prefix, Instant deadline) override;

 private:
  DeviceClient server_;
};

}  // namespace millrace::sim
