#pragma once

#include <cstdint>

#include "millrace/env/chance.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::sim {

class Task;

/// What is done to a disk. Part of the trace.
enum class DiskOperation : std::uint8_t {
  open,
  write,
  truncate,
  sync,
  rename,
  remove,
  sync_directory
};

/// Lets the time of a disk operation pass for the task that does it, and records the operation.
///
/// Returns false when the node died meanwhile: then the operation must not take place. Throws
/// nothing, because SQLite's frames may lie between here and whoever could catch it.
bool use_disk(Task& task, DiskOperation operation, std::uint64_t what);

}  // namespace millrace::sim
