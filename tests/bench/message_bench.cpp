#include <array>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/sim/world.hpp"

#include "mini_loop.hpp"
#include "simulator.hpp"

namespace millrace::bench {
namespace {

constexpr int rounds = 7;
constexpr int pairs = 16;
constexpr std::uint64_t messages = 400'000;

using Frame = std::array<std::byte, 64>;

/// Sends back every frame that comes.
void answer(Env& env, Connection& connection) {
  Frame frame;
  while (true) {
    while (connection.try_read(frame) == 0) env.parker.park_until(Instant::never());
    connection.write(frame, Instant::never());
  }
}

void serve(Env& env) {
  const auto listener = env.network.listen("echo");
  listener->bind(env.parker);
  auto connection = listener->try_accept();
  for (; connection == nullptr; connection = listener->try_accept()) {
    env.parker.park_until(Instant::never());
  }
  connection->bind(env.parker);
  answer(env, *connection);
}

void ask(Env& env, const std::string& node) {
  env.sleep(std::chrono::milliseconds(1));
  const auto connection = env.network.connect({node, "echo"}, Lane::data, Instant::never());
  connection->bind(env.parker);
  connection->write(Frame{}, Instant::never());
  answer(env, *connection);
}

/// Pairs of nodes with one frame each that goes to and fro.
double messages_per_second() {
  sim::StackPool stacks;
  sim::World world({1}, sim::Timings{}, stacks);
  for (int i = 0; i < pairs; ++i) {
    world.start(world.add_node(fmt::format("server{}", i), "server", serve));
    world.start(world.add_node(fmt::format("client{}", i), "client",
                               [i](Env& env) { ask(env, fmt::format("server{}", i)); }));
  }
  const double seconds = seconds_of([&] {
    while (world.messages() < messages) {
      world.run_until(world.now() + std::chrono::milliseconds(100));
    }
  });
  return static_cast<double>(world.messages()) / seconds;
}

/// The same in the least that can do it.
double least_messages_per_second() {
  MiniLoop loop;
  std::array<Frame, 2 * pairs> inboxes{};
  std::uint64_t sent = 0;
  for (std::size_t i = 0; i < inboxes.size(); ++i) {
    loop.add([&, i] {
      while (true) {
        loop.wait();
        const Frame frame = inboxes[i];
        inboxes[i ^ 1] = frame;
        loop.schedule(loop.now() + 100'000 + loop.draw(700'000), i ^ 1, 0);
        if (++sent == messages) loop.stop();
      }
    });
  }
  for (std::size_t i = 0; i < inboxes.size(); i += 2) loop.schedule(0, i, 0);
  const double seconds = seconds_of([&] { loop.run(); });
  return static_cast<double>(messages) / seconds;
}

}  // namespace

void bench_messages(const Report& report) {
  if (!report.wants("sim/msg")) return;
  const auto [value, floor] = medians_of(rounds, messages_per_second, least_messages_per_second);
  report.add({"sim/msg", "messages/s", value, floor, at_least(2e6), at_least(5e6)});
}

}  // namespace millrace::bench
