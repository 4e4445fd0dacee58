#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/env/network.hpp"
#include "millrace/sim/draws.hpp"
#include "millrace/sim/world.hpp"

#include "node.hpp"
#include "scheduler.hpp"

namespace millrace::sim {

class Packet;

/// One end of a connection, as the node's kernel keeps it. Kept until the world ends, because what
/// travels towards it may outlive both its owner and its use.
class Socket {
 public:
  Socket(Node& owner, std::uint64_t number, Lane what_for, Draws sending)
      : node(owner), life(owner.life), id(number), lane(what_for), draws(std::move(sending)) {}

  enum class State : std::uint8_t {
    connecting,
    open,
    refused,
    closed_by_peer,  ///< What arrived before can still be read.
    broken,          ///< Reset: the peer is gone, or does not know this connection.
    closed,          ///< By its owner, or with it.
  };

  Node& node;
  std::uint32_t life;
  std::uint64_t id;
  Lane lane;
  Draws draws;  ///< Of what this end sends.
  State state = State::connecting;
  Socket* peer = nullptr;  ///< Null until connected.
  Bytes arrived;
  std::size_t read = 0;        ///< Bytes of `arrived` that were taken already.
  std::size_t travelling = 0;  ///< Bytes towards this end.
  Instant last_arrival;        ///< Of what travels towards this end: nothing overtakes.
  Parker* reader = nullptr;
  Task* blocked_writer = nullptr;  ///< At the peer, waiting for room here.
  std::vector<Packet*> held;       ///< Towards this end, by a cut; in order.

  std::size_t unread() const { return arrived.size() - read; }
  bool is_alive() const {
    return life == node.life && node.process_is_up() && state != State::closed;
  }
};

/// Connections that were opened to a service and not yet accepted.
class ListenQueue {
 public:
  std::deque<Socket*> waiting;
  Parker* acceptor = nullptr;
};

/// What goes wrong between some nodes, for a while.
struct LinkDisturbance {
  struct Cut {
    Way way;
  };
  struct Slow {
    std::chrono::nanoseconds by;
  };
  Disturbance is;
  Between between;
  std::variant<Cut, Slow, FrameChances> what;
  TookEffect took_effect{};  ///< Empty once it was called.
};

/// The network between the nodes of a world: ordered connections with latency.
///
/// The death of a process resets its connections, as the kernel of its machine would. A machine
/// that goes dark says nothing; when it is back it resets what it does not know.
class Network {
 public:
  explicit Network(World& world);
  ~Network();

  std::unique_ptr<Listener> listen(Task& task, std::string_view service);
  std::unique_ptr<Connection> connect(Task& task, const Endpoint& to, Lane lane, Instant deadline);

  /// Ends what the node's process had open. `told`: whether the others hear of it.
  void drop(Node& node, bool told);

  Disturbance disturb(LinkDisturbance disturbance, TookEffect took_effect);
  void end(Disturbance disturbance);
  std::size_t reset(const Between& between);

  std::uint64_t delivered() const { return delivered_; }

  // For sockets.

  enum class Kind : std::uint8_t { data, end, reset };
  void send(Socket& from, Kind kind, std::span<const std::byte> frame);
  void close(Socket& socket);

 private:
  friend class Packet;
  class Opening;
  std::chrono::nanoseconds latency(Socket& from, const Node& to);
  void schedule(Socket& from, Socket& to, Kind kind, std::span<const std::byte> frame, Instant at);
  void arrive(Packet& packet);

  // Disturbances.
  bool is_cut(const Node& from, const Node& to);
  bool hold(Packet& packet);
  void release(Socket& to);
  std::chrono::nanoseconds slowness(const Node& from, const Node& to);
  bool disturb_frame(Socket& from, Socket& to, std::span<const std::byte> frame);

  /// Leaves in `frame` a buffer for another one.
  void deliver(Socket& to, Kind kind, Bytes& frame);
  void later(Socket& from, const Node& to, std::function<void()> action);
  void accept(Socket& client, const Endpoint& to, std::string_view route);
  void answer(Socket& client, Socket& server, Socket::State state);
  Socket& fresh_socket(Node& owner, Lane lane, std::string_view route);
  Packet& fresh_packet();

  World& world_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::vector<std::unique_ptr<Packet>> packets_;
  std::vector<Packet*> free_packets_;
  std::vector<std::unique_ptr<Opening>> openings_;
  std::vector<LinkDisturbance> disturbances_;  ///< Empty in nearly every run.
  std::vector<Opening*> held_openings_;
  std::uint64_t delivered_ = 0;
};

}  // namespace millrace::sim
