#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "millrace/env/env.hpp"

namespace millrace::sim {

// What tests need in order to talk over connections.

/// Listens for service `test` and waits until somebody has connected.
std::unique_ptr<Connection> accept_one(Env& env);
std::unique_ptr<Connection> accept_one(Env& env, Listener& listener);

/// Connects to service `test` of `node`, with a second of patience.
std::unique_ptr<Connection> connect_to(Env& env, const std::string& node, Lane lane = Lane::data);

/// Waits for `size` bytes.
std::string read(Env& env, Connection& connection, std::size_t size);

/// What arrives until the connection is lost, or until the deadline.
struct Heard {
  std::string text;
  bool lost = false;
};
Heard read_until(Env& env, Connection& connection, Instant deadline);

}  // namespace millrace::sim
