#include "conversation.hpp"

#include "millrace/env/error.hpp"

namespace millrace::sim {

using namespace std::chrono_literals;

std::unique_ptr<Connection> accept_one(Env& env) {
  const auto listener = env.network.listen("test");
  return accept_one(env, *listener);
}

std::unique_ptr<Connection> accept_one(Env& env, Listener& listener) {
  listener.bind(env.parker);
  while (true) {
    if (auto connection = listener.try_accept()) return connection;
    env.parker.park_until(Instant::never());
  }
}

std::unique_ptr<Connection> connect_to(Env& env, const std::string& node, Lane lane) {
  return env.network.connect({node, "test"}, lane, env.in(1s));
}

std::string read(Env& env, Connection& connection, std::size_t size) {
  std::string text(size, '?');
  connection.bind(env.parker);
  for (std::size_t done = 0; done < size;) {
    const auto room = std::as_writable_bytes(std::span(text)).subspan(done);
    const std::size_t count = connection.try_read(room);
    done += count;
    if (count == 0) env.parker.park_until(Instant::never());
  }
  return text;
}

Heard read_until(Env& env, Connection& connection, Instant deadline) {
  Heard heard;
  connection.bind(env.parker);
  try {
    while (true) {
      std::string piece(1'000, '?');
      piece.resize(connection.try_read(std::as_writable_bytes(std::span(piece))));
      heard.text += piece;
      if (!piece.empty()) continue;
      if (env.now() >= deadline) break;
      env.parker.park_until(deadline);
    }
  } catch (const ConnectionLost&) {
    heard.lost = true;
  }
  return heard;
}

}  // namespace millrace::sim
