#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "millrace/sim/disk.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::sim {

class Socket;
class ListenQueue;

/// A node, as the simulator keeps it. What belongs to the machine (disk) outlives its lives; what
/// belongs to the process (tasks, sockets, listeners) ends with each.
struct Node {
  Node(World& home, NodeId number, std::string node_name, std::string node_kind, World::Boot body,
       SimDisk node_disk)
      : world(home),
        id(number),
        name(std::move(node_name)),
        kind(std::move(node_kind)),
        boot(std::move(body)),
        disk(std::move(node_disk)) {}

  World& world;
  NodeId id;
  std::string name;
  std::string kind;
  World::Boot boot;
  SimDisk disk;
  NodeState state = NodeState::killed;
  std::uint32_t life = 0;

  std::vector<std::shared_ptr<Task>> tasks;  ///< Of this life, oldest first.
  std::vector<Task*> held;                   ///< Became ready while the node was paused, in order.
  std::map<std::string, ListenQueue*, std::less<>> listeners;
  std::vector<Socket*> sockets;
  std::map<std::string, std::uint32_t, std::less<>> connections_made;  ///< Per route, in this life.

  bool machine_is_up() const { return state != NodeState::dark; }
  bool process_is_up() const { return state == NodeState::up || state == NodeState::paused; }
};

}  // namespace millrace::sim
