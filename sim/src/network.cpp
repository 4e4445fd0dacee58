#include "network.hpp"

#include <cstring>
#include <iterator>

#include <fmt/compile.h>
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
constexpr Site frame_lost{"network.frame_lost"};
constexpr Site frame_repeated{"network.frame_repeated"};
constexpr Site frame_held{"network.frame_held"};
constexpr Site how_late{"network.how_late"};

/// How much later a frame comes that is held or repeated: up to longer than anybody waits before
/// saying a thing again.
constexpr Timings::Range lateness{std::chrono::microseconds(1), std::chrono::milliseconds(600)};

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

bool applies(const LinkDisturbance& disturbance, Way way, const Node& from, const Node& to) {
  const auto [node, peer] = disturbance.between;
  if (&from == &to) return false;
  if (way != Way::in && node == from.id && (!peer || *peer == to.id)) return true;
  return way != Way::out && node == to.id && (!peer || *peer == from.id);
}

void note_effect(LinkDisturbance& disturbance) {
  if (const TookEffect tell = std::exchange(disturbance.took_effect, nullptr)) tell();
}

}  // namespace

/// A frame, or the end of a connection, on its way.
class Packet final : public Event {
 public:
  explicit Packet(Network& network) : network_(network) {}
  void fire() override { network_.arrive(*this); }

  Socket* source = nullptr;
  Socket* target = nullptr;
  Network::Kind kind = Network::Kind::data;
  Bytes frame;

 private:
  Network& network_;
};

/// A request for a connection, or the answer to it, on its way.
class Network::Opening final : public Event {
 public:
  Opening(Network& network, Socket& from, const Node& to, std::function<void()> action)
      : network_(network), from_(from), to_(to), action_(std::move(action)) {}
  void fire() override {
    if (is_cut()) {
      network_.held_openings_.push_back(this);
    } else {
      std::exchange(action_, nullptr)();
    }
  }
  bool is_cut() const { return network_.is_cut(from_.node, to_); }
  std::chrono::nanoseconds latency() const { return network_.latency(from_, to_); }

 private:
  Network& network_;
  Socket& from_;
  const Node& to_;
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
    world_.network().send(socket_, Network::Kind::data, frame);
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
  if (target == nullptr) return nullptr;

  // A connection is named by its ends, its lane, and how many there were like it in this life. The
  // names of things that a run makes by the hundred have their formats compiled.
  std::string route = fmt::format(FMT_COMPILE("{}/{}>{}/{}/{}"), node.name, task.role(), to.node,
                                  to.service, name_of(lane));
  const std::uint32_t number = ++node.connections_made[route];
  fmt::format_to(std::back_inserter(route), FMT_COMPILE("/{}/life{}"), number, node.life);

  Socket& client = fresh_socket(node, lane, route);
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
  if (client.state == Socket::State::refused) return nullptr;
  return connection;
}

void Network::accept(Socket& client, const Endpoint& to, std::string_view route) {
  if (!client.is_alive()) return;
  Node& target = *world_.find(to.node);
  if (!target.machine_is_up()) return;  // Nobody answers; the client's deadline decides.
  Socket& server = fresh_socket(target, client.lane,
                                fmt::format(FMT_COMPILE("{}/back/life{}"), route, target.life));
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
  openings_.push_back(std::make_unique<Opening>(*this, from, to, std::move(action)));
  world_.scheduler().schedule(world_.now() + latency(from, to), *openings_.back());
}

Socket& Network::fresh_socket(Node& owner, Lane lane, std::string_view route) {
  sockets_.push_back(std::make_unique<Socket>(owner, sockets_.size() + 1, lane,
                                              Draws(world_.seed(), Domain::world, route)));
  owner.sockets.push_back(sockets_.back().get());
  return *sockets_.back();
}

std::chrono::nanoseconds Network::latency(Socket& from, const Node& to) {
  const Timings& timings = world_.timings();
  if (&from.node == &to) return drawn(from.draws, body_latency, timings.local_message);
  const auto extra = disturbances_.empty() ? std::chrono::nanoseconds(0) : slowness(from.node, to);
  if (from.draws.hits(is_slow, timings.slow)) {
    return drawn(from.draws, tail_latency, timings.slow_message) + extra;
  }
  return drawn(from.draws, body_latency, timings.message) + extra;
}

Packet& Network::fresh_packet() {
  if (free_packets_.empty()) {
    packets_.push_back(std::make_unique<Packet>(*this));
    return *packets_.back();
  }
  Packet& packet = *free_packets_.back();
  free_packets_.pop_back();
  return packet;
}

void Network::send(Socket& from, Kind kind, std::span<const std::byte> frame) {
  Socket* const to = from.peer;
  if (to == nullptr) return;
  world_.trace().record(EventKind::sent, from.id, frame.size(), checksum(frame), world_.now().ns);
  const bool may_be_disturbed = from.lane == Lane::control && kind == Kind::data;
  if (may_be_disturbed && !disturbances_.empty() && disturb_frame(from, *to, frame)) return;
  const Instant at = std::max(to->last_arrival, world_.now() + latency(from, to->node));
  to->last_arrival = at;
  schedule(from, *to, kind, frame, at);
}

void Network::schedule(Socket& from, Socket& to, Kind kind, std::span<const std::byte> frame,
                       Instant at) {
  to.travelling += frame.size();
  Packet& packet = fresh_packet();
  packet.source = &from;
  packet.target = &to;
  packet.kind = kind;
  packet.frame.assign(frame.begin(), frame.end());
  world_.scheduler().schedule(at, packet);
}

void Network::arrive(Packet& packet) {
  Socket& to = *packet.target;
  if ((!disturbances_.empty() || !to.held.empty()) && hold(packet)) return;
  deliver(to, packet.kind, packet.frame);
  free_packets_.push_back(&packet);  // Not before: delivering may send.
}

void Network::deliver(Socket& to, Kind kind, Bytes& frame) {
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
    case Kind::data:
      if (to.state == Socket::State::broken) {
        // A gap is in front of it: whoever still sends must hear that this connection is over.
        send(to, Kind::reset, {});
        return;
      }
      // A frame that was held may come behind the end.
      if (to.state == Socket::State::closed_by_peer) return;
      if (to.arrived.empty()) {
        std::swap(to.arrived, frame);
      } else {
        to.arrived.insert(to.arrived.end(), frame.begin(), frame.end());
      }
      break;
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

Disturbance Network::disturb(LinkDisturbance disturbance, TookEffect took_effect) {
  disturbance.took_effect = std::move(took_effect);
  disturbances_.push_back(std::move(disturbance));
  return disturbances_.back().is;
}

void Network::end(Disturbance disturbance) {
  const auto is_it = [&](const LinkDisturbance& one) { return one.is == disturbance; };
  if (std::erase_if(disturbances_, is_it) == 0) return;
  // What was held is sent once more, and takes the time that a message takes.
  for (const auto& socket : sockets_) {
    if (socket->held.empty() || is_cut(socket->held.front()->source->node, socket->node)) continue;
    Socket& from = *socket->held.front()->source;
    later(from, socket->node, [this, to = socket.get()] { release(*to); });
  }
  std::vector<Opening*> free;
  std::erase_if(held_openings_, [&free](Opening* opening) {
    if (opening->is_cut()) return false;
    free.push_back(opening);
    return true;
  });
  for (Opening* const opening : free) {
    world_.scheduler().schedule(world_.now() + opening->latency(), *opening);
  }
}

bool Network::is_cut(const Node& from, const Node& to) {
  for (LinkDisturbance& disturbance : disturbances_) {
    const auto* const cut = std::get_if<LinkDisturbance::Cut>(&disturbance.what);
    if (cut == nullptr || !applies(disturbance, cut->way, from, to)) continue;
    note_effect(disturbance);
    return true;
  }
  return false;
}

/// Keeps a packet that may not arrive now, or not before those that wait already.
bool Network::hold(Packet& packet) {
  Socket& to = *packet.target;
  const bool cut_off = is_cut(packet.source->node, to.node);
  if (packet.kind == Kind::reset) {
    // Said once and never again. If it is lost, whoever sends to nobody gets another one.
    if (cut_off) free_packets_.push_back(&packet);
    return cut_off;
  }
  if (!cut_off && to.held.empty()) return false;
  to.held.push_back(&packet);
  return true;
}

void Network::release(Socket& to) {
  for (Packet* const packet : std::exchange(to.held, {})) {
    // What its sender's kernel kept to send it again went with the sender.
    const Socket& from = *packet->source;
    if (from.life == from.node.life && from.node.process_is_up()) {
      arrive(*packet);
    } else {
      to.travelling -= packet->frame.size();
      packet->frame.clear();
      free_packets_.push_back(packet);
    }
  }
}

std::chrono::nanoseconds Network::slowness(const Node& from, const Node& to) {
  std::chrono::nanoseconds sum{0};
  for (LinkDisturbance& disturbance : disturbances_) {
    const auto* const slow = std::get_if<LinkDisturbance::Slow>(&disturbance.what);
    if (slow == nullptr || !applies(disturbance, Way::both, from, to)) continue;
    note_effect(disturbance);
    sum += slow->by;
  }
  return sum;
}

/// Does to a frame what a message bus may do. Returns whether it is not to be sent as usual.
bool Network::disturb_frame(Socket& from, Socket& to, std::span<const std::byte> frame) {
  for (LinkDisturbance& disturbance : disturbances_) {
    const auto* const chances = std::get_if<FrameChances>(&disturbance.what);
    if (chances == nullptr || !applies(disturbance, Way::both, from.node, to.node)) continue;
    const auto arrives_late = [&] {
      const auto extra = drawn(from.draws, how_late, lateness);
      schedule(from, to, Kind::data, frame, world_.now() + latency(from, to.node) + extra);
    };
    // All three are asked: what becomes of one frame moves no draw of the next.
    const bool is_lost = from.draws.hits(frame_lost, chances->lose);
    const bool is_repeated = from.draws.hits(frame_repeated, chances->repeat);
    const bool is_held = from.draws.hits(frame_held, chances->hold);
    if (!is_lost && !is_repeated && !is_held) continue;
    note_effect(disturbance);
    if (is_lost) return true;
    arrives_late();
    if (is_held) return true;
  }
  return false;
}

std::size_t Network::reset(const Between& between) {
  // By either end: while a connection comes about only one is open.
  const LinkDisturbance what{{}, between, LinkDisturbance::Cut{Way::both}};
  std::size_t connections = 0;
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    Socket& end = *sockets_[i];
    const bool is_open = end.is_alive() && end.state == Socket::State::open && end.peer != nullptr;
    if (!is_open || !applies(what, Way::both, end.node, end.peer->node)) continue;
    ++connections;
    Bytes nothing;
    deliver(end, Kind::reset, nothing);
    if (end.peer->state == Socket::State::open) deliver(*end.peer, Kind::reset, nothing);
  }
  return connections;
}

}  // namespace millrace::sim
