#include "network.hpp"

#include <cstring>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/env/invariant.hpp"

#include "node.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

constexpr Site is_slow{"network.is_slow"};
constexpr Site body_latency{"network.latency"};
constexpr Site tail_latency{"network.tail_latency"};

std::string_view name_of(Lane lane) {
  switch (lane) {
    case Lane::data: return "data";
    case Lane::control: return "control";
    case Lane::device: return "device";
  }
  violated("every lane has a name", Where::here());
}

std::chrono::nanoseconds drawn(Draws& draws, Site site, const Timings::Range& range) {
  const auto span = static_cast<std::uint64_t>((range.most - range.least).count());
  return range.least + std::chrono::nanoseconds(draws.below(site, span + 1));
}

}  // namespace

/// A frame, or the end of a connection, on its way.
class Network::Packet final : public Event {
 public:
  explicit Packet(Network& network) : network_(network) {}
  void fire() override {
    // Taken out first: delivering may send, and reuse this packet.
    Socket& to = *target;
    const Bytes bytes = std::exchange(frame, {});
    network_.free_packets_.push_back(this);
    network_.deliver(to, kind, bytes);
  }

  Socket* target = nullptr;
  Kind kind = Kind::data;
  Bytes frame;

 private:
  Network& network_;
};

/// A request for a connection, or the answer to it, on its way.
class Network::Opening final : public Event {
 public:
  explicit Opening(std::function<void()> action) : action_(std::move(action)) {}
  void fire() override { std::exchange(action_, nullptr)(); }

 private:
  std::function<void()> action_;
};

namespace {

class SimConnection final : public Connection {
 public:
  SimConnection(World& world, Socket& socket) : world_(world), socket_(socket) {}
  ~SimConnection() override { world_.network().close(socket_); }

  bool write(std::span<const std::byte> frame, Instant deadline) override {
    Task& task = current();
    task.check();
    InnerWait wait(task);
    while (true) {
      if (socket_.state != Socket::State::open) throw ConnectionLost(describe());
      Socket& peer = *socket_.peer;
      const std::size_t outstanding = peer.travelling + peer.unread();
      // A frame larger than the window goes when the window is empty.
      if (outstanding == 0 || outstanding + frame.size() <= world_.timings().window_bytes) break;
      if (world_.now() >= deadline) return false;
      peer.blocked_writer = &task;
      wait.until(deadline);
    }
    world_.network().send(socket_, Network::Kind::data, Bytes(frame.begin(), frame.end()));
    return true;
  }

  std::size_t try_read(std::span<std::byte> into) override {
    current().check_alive();
    const std::size_t count = std::min(into.size(), socket_.unread());
    if (count == 0) {
      if (socket_.state != Socket::State::open) throw ConnectionLost(describe());
      return 0;
    }
    std::memcpy(into.data(), socket_.arrived.data() + socket_.read, count);
    socket_.read += count;
    if (socket_.unread() == 0) {
      socket_.arrived.clear();
      socket_.read = 0;
    }
    if (Task* writer = std::exchange(socket_.blocked_writer, nullptr)) writer->unpark();
    return count;
  }

  void bind(Parker& reader) override {
    socket_.reader = &reader;
    if (socket_.unread() != 0 || socket_.state != Socket::State::open) reader.unpark();
  }

 private:
  Task& current() const {
    Task* const task = world_.scheduler().current();
    invariant(task != nullptr, "connections are used by tasks");
    return *task;
  }
  std::string describe() const {
    switch (socket_.state) {
      case Socket::State::closed_by_peer: return "the other side closed the connection";
      case Socket::State::broken: return "the connection was reset";
      default: return "the connection is closed";
    }
  }

  World& world_;
  Socket& socket_;
};

class SimListener final : public Listener {
 public:
  SimListener(World& world, Node& node, std::string service)
      : world_(world), node_(node), life_(node.life), service_(std::move(service)) {
    node_.listeners[service_] = &queue_;
  }
  ~SimListener() override {
    // The listeners of an earlier life went with it.
    if (life_ == node_.life && node_.process_is_up()) node_.listeners.erase(service_);
    for (Socket* const socket : queue_.waiting) world_.network().close(*socket);
  }

  std::unique_ptr<Connection> try_accept() override {
    world_.scheduler().current()->check_alive();
    if (queue_.waiting.empty()) return nullptr;
    Socket& socket = *queue_.waiting.front();
    queue_.waiting.pop_front();
    return std::make_unique<SimConnection>(world_, socket);
  }
  void bind(Parker& acceptor) override {
    queue_.acceptor = &acceptor;
    if (!queue_.waiting.empty()) acceptor.unpark();
  }

 private:
  World& world_;
  Node& node_;
  std::uint32_t life_;
  std::string service_;
  ListenQueue queue_;
};

}  // namespace

Network::Network(World& world) : world_(world) {}
Network::~Network() = default;

std::unique_ptr<Listener> Network::listen(Task& task, std::string_view service) {
  Node& node = task.node();
  if (node.listeners.contains(service)) {
    throw WorldError(fmt::format("{}: somebody listens for {} already", node.name, service));
  }
  return std::make_unique<SimListener>(world_, node, std::string(service));
}

std::unique_ptr<Connection> Network::connect(Task& task, const Endpoint& to, Lane lane,
                                             Instant deadline) {
  Node& node = task.node();
  const Node* const target = world_.find(to.node);
  if (target == nullptr) throw ConnectionLost(fmt::format("there is no node {}", to.node));

  // A connection is named by its ends, its lane, and how many there were like it in this life.
  std::string route =
      fmt::format("{}/{}>{}/{}/{}", node.name, task.role(), to.node, to.service, name_of(lane));
  const std::uint32_t number = ++node.connections_made[route];
  route += fmt::format("/{}/life{}", number, node.life);

  Socket& client = fresh_socket(node, route);
  client.reader = &task;
  auto connection = std::make_unique<SimConnection>(world_, client);
  later(client, *target, [this, &client, to, route] { accept(client, to, route); });
  InnerWait wait(task);
  while (client.state == Socket::State::connecting) {
    if (world_.now() >= deadline) {
      throw Unavailable(fmt::format("{} does not answer at {}", to.node, to.service));
    }
    wait.until(deadline);
  }
  if (client.state == Socket::State::refused) {
    throw ConnectionLost(fmt::format("{} refuses connections to {}", to.node, to.service));
  }
  return connection;
}

void Network::accept(Socket& client, const Endpoint& to, std::string_view route) {
  if (!client.is_alive()) return;
  Node& target = *world_.find(to.node);
  if (!target.machine_is_up()) return;  // Nobody answers; the client's deadline decides.
  Socket& server = fresh_socket(target, fmt::format("{}/back/life{}", route, target.life));
  const auto listener = target.listeners.find(to.service);
  if (!target.process_is_up() || listener == target.listeners.end()) {
    server.state = Socket::State::closed;
    answer(client, server, Socket::State::refused);
    return;
  }
  server.state = Socket::State::open;
  server.peer = &client;
  listener->second->waiting.push_back(&server);
  if (listener->second->acceptor != nullptr) listener->second->acceptor->unpark();
  answer(client, server, Socket::State::open);
}

void Network::answer(Socket& client, Socket& server, Socket::State state) {
  later(server, client.node, [this, &client, &server, state] {
    if (client.is_alive() && client.state == Socket::State::connecting) {
      client.state = state;
      client.peer = &server;
      client.reader->unpark();
    } else if (state == Socket::State::open && client.node.machine_is_up()) {
      client.peer = &server;  // Given up in the meantime: the other end must hear of it.
      send(client, Kind::reset, {});
    }
  });
}

/// Does something at `to` when a message that is sent now would arrive there.
void Network::later(Socket& from, const Node& to, std::function<void()> action) {
  openings_.push_back(std::make_unique<Opening>(std::move(action)));
  world_.scheduler().schedule(world_.now() + latency(from, to), *openings_.back());
}

Socket& Network::fresh_socket(Node& owner, std::string_view route) {
  sockets_.push_back(std::make_unique<Socket>(owner, sockets_.size() + 1,
                                              Draws(world_.seed(), Domain::world, route)));
  owner.sockets.push_back(sockets_.back().get());
  return *sockets_.back();
}

std::chrono::nanoseconds Network::latency(Socket& from, const Node& to) {
  const Timings& timings = world_.timings();
  if (&from.node == &to) return drawn(from.draws, body_latency, timings.local_message);
  if (from.draws.hits(is_slow, timings.slow)) {
    return drawn(from.draws, tail_latency, timings.slow_message);
  }
  return drawn(from.draws, body_latency, timings.message);
}

Network::Packet& Network::fresh_packet() {
  if (free_packets_.empty()) {
    packets_.push_back(std::make_unique<Packet>(*this));
    return *packets_.back();
  }
  Packet& packet = *free_packets_.back();
  free_packets_.pop_back();
  return packet;
}

void Network::send(Socket& from, Kind kind, Bytes frame) {
  Socket* const to = from.peer;
  if (to == nullptr) return;
  world_.trace().record(EventKind::sent, from.id, frame.size(),
                        checksum(std::span<const std::byte>(frame)), world_.now().ns);
  to->travelling += frame.size();
  Packet& packet = fresh_packet();
  packet.target = to;
  packet.kind = kind;
  packet.frame = std::move(frame);
  const Instant at = std::max(to->last_arrival, world_.now() + latency(from, to->node));
  to->last_arrival = at;
  world_.scheduler().schedule(at, packet);
}

void Network::deliver(Socket& to, Kind kind, const Bytes& frame) {
  ++delivered_;
  world_.trace().record(EventKind::delivered, to.id, frame.size(), static_cast<std::uint64_t>(kind),
                        world_.now().ns);
  to.travelling -= frame.size();
  if (!to.is_alive()) {
    // A machine that is up knows nothing of this connection and says so.
    if (kind == Kind::data && to.node.machine_is_up()) send(to, Kind::reset, {});
    return;
  }
  switch (kind) {
    case Kind::data: to.arrived.insert(to.arrived.end(), frame.begin(), frame.end()); break;
    case Kind::end:
      if (to.state == Socket::State::open) to.state = Socket::State::closed_by_peer;
      break;
    case Kind::reset:
      to.state = Socket::State::broken;
      to.arrived.clear();  // What was not read is lost.
      to.read = 0;
      break;
  }
  if (to.reader != nullptr) to.reader->unpark();
  if (kind != Kind::data && to.peer != nullptr) {
    if (Task* writer = std::exchange(to.peer->blocked_writer, nullptr)) writer->unpark();
  }
}

void Network::close(Socket& socket) {
  if (!socket.is_alive()) return;  // The node's death closed it.
  const bool was_open = socket.state == Socket::State::open;
  socket.state = Socket::State::closed;
  if (was_open) send(socket, Kind::end, {});
}

void Network::drop(Node& node, bool told) {
  node.listeners.clear();
  node.connections_made.clear();
  for (Socket* const socket : std::exchange(node.sockets, {})) {
    if (socket->state == Socket::State::closed) continue;
    const bool was_open = socket->state == Socket::State::open;
    socket->state = Socket::State::closed;
    if (told && was_open) send(*socket, Kind::reset, {});
  }
}

}  // namespace millrace::sim
