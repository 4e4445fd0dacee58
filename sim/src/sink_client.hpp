#pragma once

#include "millrace/env/sink_table.hpp"

namespace millrace::sim {

class Task;

/// The database of the cluster, over the network; each table on a connection of its own.
class SinkClients final : public SinkTables {
 public:
  explicit SinkClients(Task& task) : task_(task) {}
  std::unique_ptr<SinkTable> open(const std::string& database, const TableSchema& schema) override;

 private:
  Task& task_;
};

}  // namespace millrace::sim
