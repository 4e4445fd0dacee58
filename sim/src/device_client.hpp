#pragma once

#include <memory>
#include <optional>
#include <string>

#include "millrace/env/bytes.hpp"
#include "millrace/env/network.hpp"

namespace millrace::sim {

class Task;

/// The way from a task to a device's server: one connection, opened when it is first needed and
/// again after it broke. One request is under way at a time.
class DeviceClient {
 public:
  DeviceClient(Task& task, std::string node) : task_(task), node_(std::move(node)) {}

  /// Sends `request`, which `begin_frame` has begun, and waits for the answer.
  ///
  /// Nothing: there was none by the deadline, or the connection broke; whether the request was
  /// carried out is unknown. Throws what the server threw.
  std::optional<Bytes> call(Encoder& request, Instant deadline);

  /// The two halves of `call`, for a task that does something else meanwhile. `send` returns false
  /// if the server refuses, and throws ConnectionLost, Unavailable. `try_receive` throws
  /// ConnectionLost, and what the server threw.
  bool send(Encoder& request, Instant deadline);
  std::optional<Bytes> try_receive();

  /// Forgets the connection and what it may still bring.
  void hang_up();

 private:
  Task& task_;
  std::string node_;
  std::unique_ptr<Connection> connection_;
  Bytes received_;
};

}  // namespace millrace::sim
