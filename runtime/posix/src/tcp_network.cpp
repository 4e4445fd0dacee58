#include "millrace/posix/tcp_network.hpp"

#include <cerrno>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "millrace/env/error.hpp"

#include "poller.hpp"
#include "system_error.hpp"
#include "tcp_connection.hpp"

namespace millrace::posix {
namespace {

::sockaddr_in loopback(std::uint16_t port) {
  ::sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Descriptor open_socket() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw IoError(fmt::format("cannot open a socket: {}", error_text(errno)));
  return socket;
}

/// Frames are written whole, so nothing is gained by waiting for more to send with them.
void send_at_once(const Descriptor& socket) {
  const int yes = 1;
  ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/// A socket that takes connections on a port that the kernel has chosen.
Descriptor open_listening_socket() {
  auto socket = open_socket();
  const auto address = loopback(0);
  if (::bind(socket.number(), reinterpret_cast<const ::sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.number(), SOMAXCONN) != 0) {
    throw IoError(fmt::format("cannot listen on 127.0.0.1: {}", error_text(errno)));
  }
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  ::sockaddr_in address{};
  ::socklen_t size = sizeof address;
  if (::getsockname(socket.number(), reinterpret_cast<::sockaddr*>(&address), &size) != 0) {
    throw IoError(fmt::format("cannot tell the port of a socket: {}", error_text(errno)));
  }
  return ntohs(address.sin_port);
}

/// What a listener shares with the poller's thread.
class Acceptor final : public Watched {
 public:
  void ready(std::uint32_t) override {
    const std::lock_guard lock(mutex_);
    if (acceptor_ != nullptr) acceptor_->unpark();
  }
  /// Null: nobody is to be woken any more.
  void bind(Parker* acceptor) {
    const std::lock_guard lock(mutex_);
    acceptor_ = acceptor;
    // What came before was told to nobody.
    if (acceptor != nullptr) acceptor->unpark();
  }

 private:
  std::mutex mutex_;
  Parker* acceptor_ = nullptr;
};

}  // namespace

class TcpNetwork::OpenListener final : public Listener {
 public:
  OpenListener(TcpNetwork& network, Endpoint at)
      : network_(network), at_(std::move(at)), socket_(open_listening_socket()) {
    number_ = network_.poller_->watch(socket_.number(), acceptor_);
    if (!network_.ports_.add(at_, port_of(socket_))) {
      network_.poller_->forget(socket_.number(), number_);
      throw WorldError(
          fmt::format("somebody on {} listens for `{}` already", at_.node, at_.service));
    }
  }

  ~OpenListener() override {
    network_.ports_.remove(at_);
    network_.poller_->forget(socket_.number(), number_);
    acceptor_->bind(nullptr);
  }

  std::unique_ptr<Connection> try_accept() override {
    while (true) {
      Descriptor socket(
          ::accept4(socket_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.is_open()) {
        send_at_once(socket);
        return std::make_unique<TcpConnection>(*network_.poller_, network_.registry_,
                                               std::move(socket));
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) return nullptr;
      // Whoever was given up while waiting is passed over.
      if (errno != EINTR && errno != ECONNABORTED) {
        throw IoError(fmt::format("cannot accept a connection: {}", error_text(errno)));
      }
    }
  }

  void bind(Parker& acceptor) override { acceptor_->bind(&acceptor); }

 private:
  TcpNetwork& network_;
  Endpoint at_;
  Descriptor socket_;
  std::shared_ptr<Acceptor> acceptor_ = std::make_shared<Acceptor>();
  std::uint64_t number_ = 0;
};

class TcpNetwork::NodeNetwork final : public Network {
 public:
  NodeNetwork(TcpNetwork& network, std::string node) : network_(network), node_(std::move(node)) {}

  std::unique_ptr<Listener> listen(std::string_view service) override {
    return std::make_unique<OpenListener>(network_, Endpoint{node_, std::string(service)});
  }

  std::unique_ptr<Connection> connect(const Endpoint& to, Lane, Instant deadline) override {
    const auto port = network_.ports_.find(to);
    if (!port) return nullptr;
    auto socket = open_socket();
    send_at_once(socket);
    const auto address = loopback(*port);
    if (::connect(socket.number(), reinterpret_cast<const ::sockaddr*>(&address), sizeof address) !=
            0 &&
        errno != EINPROGRESS) {
      throw ConnectionLost(
          fmt::format("cannot connect to `{}` on {}: {}", to.service, to.node, error_text(errno)));
    }
    auto connection =
        std::make_unique<TcpConnection>(*network_.poller_, network_.registry_, std::move(socket));
    switch (connection->wait_until_open(deadline)) {
      case Opening::open: return connection;
      case Opening::refused: return nullptr;
      case Opening::unanswered: break;
    }
    throw Unavailable(fmt::format("`{}` on {} does not answer", to.service, to.node));
  }

 private:
  TcpNetwork& network_;
  std::string node_;
};

TcpNetwork::TcpNetwork(TaskRegistry& registry, PortTable& ports)
    : registry_(registry), ports_(ports), poller_(std::make_unique<Poller>()) {}

TcpNetwork::~TcpNetwork() = default;

std::unique_ptr<Network> TcpNetwork::of(const std::string& node) {
  return std::make_unique<NodeNetwork>(*this, node);
}

}  // namespace millrace::posix
