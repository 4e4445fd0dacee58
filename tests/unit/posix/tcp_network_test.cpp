#include "millrace/posix/tcp_network.hpp"

#include <vector>

#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "millrace/env/bytes.hpp"
#include "millrace/env/channel.hpp"
#include "millrace/env/error.hpp"
#include "millrace/posix/process.hpp"

#include "no_sinks.hpp"

using namespace millrace;
using namespace millrace::posix;
using namespace std::chrono_literals;

namespace {

/// Runs `body` as a task in a process whose nodes talk over TCP.
void over_tcp(const std::function<void(Env&, PortTable&)>& body) {
  NoSinks sinks;
  ProcessOptions options;
  options.networking = ProcessOptions::Networking::tcp;
  Process process(std::move(options), sinks);
  process.run("worker1", "test", [&](Env& env) { body(env, process.ports()); });
}

/// A socket that listens and never accepts, so that the kernel soon answers nobody.
class DeafServer {
 public:
  DeafServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof address;
    auto* any = reinterpret_cast<::sockaddr*>(&address);
    REQUIRE(::bind(socket_, any, size) == 0);
    REQUIRE(::listen(socket_, 0) == 0);
    REQUIRE(::getsockname(socket_, any, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  DeafServer(const DeafServer&) = delete;
  DeafServer& operator=(const DeafServer&) = delete;
  ~DeafServer() { ::close(socket_); }

  std::uint16_t port() const { return port_; }

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

/// Connects until there is no answer. What was opened before stays open.
std::vector<std::unique_ptr<Connection>> connect_until_unanswered(Env& env, const Endpoint& to) {
  std::vector<std::unique_ptr<Connection>> open;
  try {
    while (true) open.push_back(env.network.connect(to, Lane::data, env.in(20ms)));
  } catch (const Unavailable&) {
    return open;
  }
}

}  // namespace

TEST_CASE("a server that does not answer by the deadline is unavailable", "[posix][tcp]") {
  over_tcp([](Env& env, PortTable& ports) {
    const DeafServer server;
    const Endpoint deaf{"worker2", "deaf"};
    ports.add(deaf, server.port());

    const auto open = connect_until_unanswered(env, deaf);

    CHECK_FALSE(open.empty());
    CHECK_THROWS_AS(env.network.connect(deaf, Lane::data, env.in(1ms)), Unavailable);
  });
}

TEST_CASE("a task that waits for a connection can be cancelled", "[posix][tcp]") {
  over_tcp([](Env& env, PortTable& ports) {
    const DeafServer server;
    const Endpoint deaf{"worker2", "deaf"};
    ports.add(deaf, server.port());
    const auto open = connect_until_unanswered(env, deaf);
    bool cancelled = false;
    Channel<int> started(1);
    started.bind(env.parker);
    const auto task = env.tasks.start("client", [&](Env& own) {
      started.put(1, own.parker);
      try {
        own.network.connect(deaf, Lane::data, Instant::never());
      } catch (const Cancelled&) {
        cancelled = true;
      }
    });
    while (!started.try_take()) env.parker.park_until(Instant::never());

    task->cancel();

    REQUIRE(task->join(Instant::never()));
    CHECK(cancelled);
  });
}

TEST_CASE("a port that nobody serves any more refuses", "[posix][tcp]") {
  over_tcp([](Env& env, PortTable& ports) {
    std::uint16_t port = 0;
    {
      const DeafServer server;
      port = server.port();
    }
    ports.add({"worker2", "gone"}, port);

    CHECK(env.network.connect({"worker2", "gone"}, Lane::data, env.in(1min)) == nullptr);
  });
}

TEST_CASE("the ports of a process are known as long as somebody listens", "[posix][tcp]") {
  over_tcp([](Env& env, PortTable& ports) {
    auto listener = env.network.listen("service");
    const auto port = ports.find({"worker1", "service"});
    CHECK(port);
    CHECK(port != std::uint16_t{0});

    listener.reset();
    CHECK(ports.find({"worker1", "service"}) == std::nullopt);
  });
}

TEST_CASE("a connection that is closed with something unread is reset", "[posix][tcp]") {
  over_tcp([](Env& env, PortTable&) {
    const auto listener = env.network.listen("service");
    listener->bind(env.parker);
    const auto here = env.network.connect({"worker1", "service"}, Lane::data, env.in(1min));
    std::unique_ptr<Connection> there;
    while (!(there = listener->try_accept())) env.parker.park_until(Instant::never());
    here->bind(env.parker);
    CHECK(here->write(as_bytes("never read"), env.in(1min)));
    env.sleep(1ms);

    there.reset();

    std::byte byte{};
    const auto read_on = [&] {
      while (here->try_read(std::span(&byte, 1)) == 0) env.parker.park_until(Instant::never());
    };
    CHECK_THROWS_AS(read_on(), ConnectionLost);
    CHECK_THROWS_AS(here->write(as_bytes("x"), env.in(1min)), ConnectionLost);
  });
}
