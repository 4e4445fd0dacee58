#include "device.hpp"

#include "node.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

constexpr Site write_time{"disk.write_time"};
constexpr Site sync_time{"disk.sync_time"};

}  // namespace

DiskUse use_disk(Task& task, DiskOperation operation, std::uint64_t what, bool makes_longer) {
  Node& node = task.node();
  World& world = node.world;
  if (world.is_outside()) return DiskUse::done;
  if (!node.disk_countdowns.empty() && task.is_alive()) node.count_disk_operation();
  const bool slow = operation == DiskOperation::sync || operation == DiskOperation::sync_directory;
  const bool alive = slow ? task.wait_for_device(world.timings().disk_sync, sync_time)
                          : task.wait_for_device(world.timings().disk_write, write_time);
  if (!alive) return DiskUse::dead;
  if (!node.disk_disturbances.empty()) {
    const auto trouble = node.disk_trouble(makes_longer);
    if (trouble) return *trouble == DiskTrouble::full ? DiskUse::full : DiskUse::failed;
  }
  world.trace().record(EventKind::disk, node.id.index, static_cast<std::uint64_t>(operation), what,
                       world.now().ns);
  return DiskUse::done;
}

bool read_fails(Node& node) {
  if (node.disk_disturbances.empty() || node.world.is_outside()) return false;
  return node.disk_trouble(false).has_value();
}

}  // namespace millrace::sim
