#pragma once

#include <functional>
#include <string>

#include "millrace/env/env.hpp"

namespace millrace::sim {

class MemoryDatabase;

/// The name of the node at which tasks look for the sink database.
inline constexpr const char* database_node = "database";

/// What runs on the database's node.
struct DatabaseOptions {
  std::string vfs;  ///< The name of the SqliteVfs of the node's disk.
  /// Called after every commit, before anybody is told of it. What it does costs no virtual time,
  /// and it must not throw: SQLite is on the stack.
  std::function<void()> on_commit;
  /// If given, it holds the tables, and not SQLite. A commit happens between a write and a sync of
  /// the node's disk; if the write fails, not at all.
  MemoryDatabase* memory = nullptr;
};

/// The body of the database's node: real SQLite on the simulated disk, or what stands in for it,
/// served over the network, one connection per client.
void run_database_server(Env& env, const DatabaseOptions& options);

}  // namespace millrace::sim
