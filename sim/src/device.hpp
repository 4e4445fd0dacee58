#pragma once

#include <cstdint>

#include "millrace/env/chance.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::sim {

class Task;
struct Node;

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

/// How the use of a disk ended.
enum class DiskUse : std::uint8_t {
  done,    ///< The operation is to take place now.
  dead,    ///< The node died: it must not take place.
  failed,  ///< It fails. Of a write any first part may take place, of others nothing.
  full,    ///< It fails for want of room, and nothing takes place.
};

/// Lets the time of a disk operation pass for the task that does it, and records the operation if
/// it is done. `makes_longer`: it needs room.
///
/// Throws nothing, because SQLite's frames may lie between here and whoever could catch it.
DiskUse use_disk(Task& task, DiskOperation operation, std::uint64_t what,
                 bool makes_longer = false);

/// Whether a read of the disk fails. Takes no time.
bool read_fails(Node& node);

}  // namespace millrace::sim
