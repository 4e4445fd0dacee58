#pragma once

#include "millrace/env/env.hpp"

namespace millrace::sim {

/// The name of the node at which tasks look for the object store.
inline constexpr const char* store_node = "store";

/// The body of the object store's node: a directory of its disk, served over the network. It is the
/// same store that a real job keeps its state in (files/directory_store.hpp), so every crash of the
/// simulated one tries the real one.
void run_store_server(Env& env);

}  // namespace millrace::sim
