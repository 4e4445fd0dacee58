#include "device.hpp"

#include "node.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

constexpr Site write_time{"disk.write_time"};
constexpr Site sync_time{"disk.sync_time"};

}  // namespace

bool use_disk(Task& task, DiskOperation operation, std::uint64_t what) {
  World& world = task.node().world;
  if (world.is_outside()) return true;
  const bool slow = operation == DiskOperation::sync || operation == DiskOperation::sync_directory;
  const bool alive = slow ? task.wait_for_device(world.timings().disk_sync, sync_time)
                          : task.wait_for_device(world.timings().disk_write, write_time);
  if (!alive) return false;
  world.trace().record(EventKind::disk, task.node().id.index, static_cast<std::uint64_t>(operation),
                       what, world.now().ns);
  return true;
}

}  // namespace millrace::sim
