#pragma once

#include <functional>
#include <string>

#include "millrace/env/env.hpp"

namespace millrace::sim {

/// The name of the node at which tasks look for the sink database.
inline constexpr const char* database_node = "database";

/// What runs on the database's node.
struct DatabaseOptions {
  std::string vfs;  ///< The name of the SqliteVfs of the node's disk.
  /// Called after every commit, before anybody is told of it. What it does costs no virtual time,
  /// and it must not throw: SQLite is on the stack.
  std::function<void()> on_commit;
};

/// The body of the database's node: real SQLite on the simulated disk, served over the network,
/// one connection of SQLite per client.
void run_database_server(Env& env, const DatabaseOptions& options);

}  // namespace millrace::sim
