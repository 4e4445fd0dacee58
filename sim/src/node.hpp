#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/sim/disk.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::sim {

class Socket;
class ListenQueue;

/// A disk that fails.
struct DiskDisturbance {
  Disturbance is;
  DiskTrouble trouble;
  TookEffect took_effect;  ///< Empty once it was called.
};

/// Somebody waits for the how-manieth operation of a disk.
struct DiskCountdown {
  Disturbance is;
  std::uint64_t left;
  std::function<void()> action;
};

/// What becomes of an answer of a device's server, once.
struct AnswerDisturbance {
  Disturbance is;
  std::string operation;                       ///< `*`: any.
  std::optional<std::chrono::nanoseconds> by;  ///< It is late by that much; nothing: it is lost.
  TookEffect took_effect;
};

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

  // Of the machine, too. Empty in nearly every run.
  std::vector<DiskDisturbance> disk_disturbances;
  std::vector<DiskCountdown> disk_countdowns;
  std::vector<AnswerDisturbance> answer_disturbances;

  /// Tells those who wait for an operation of the disk that one is about to happen.
  void count_disk_operation();
  /// What the disk's state makes of an operation. Nothing: it succeeds.
  std::optional<DiskTrouble> disk_trouble(bool makes_longer);
  /// Takes what is to become of the answer to a request, if anything. `late`: of those that make it
  /// late, else of those that lose it.
  std::optional<std::chrono::nanoseconds> take_answer_disturbance(std::string_view operation,
                                                                  bool late);
  void end(Disturbance disturbance);

  bool machine_is_up() const { return state != NodeState::dark; }
  bool process_is_up() const { return state == NodeState::up || state == NodeState::paused; }
};

}  // namespace millrace::sim
