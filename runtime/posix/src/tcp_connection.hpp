#pragma once

#include <cstdint>
#include <memory>

#include "millrace/env/network.hpp"
#include "millrace/posix/task_registry.hpp"

#include "descriptor.hpp"
#include "poller.hpp"

namespace millrace::posix {

class TcpStream;

/// What became of an attempt to connect.
enum class Opening : std::uint8_t { open, refused, unanswered };

/// A connection over a non-blocking socket.
///
/// A frame that the kernel takes only a part of counts as sent: its rest is kept here and follows
/// as soon as there is room, and until then the next frame waits. So `write` is never left in the
/// middle of a frame. Closing loses such a rest.
class TcpConnection final : public Connection {
 public:
  TcpConnection(Poller& poller, TaskRegistry& registry, Descriptor socket);
  ~TcpConnection() override;

  /// Waits until a connection that was begun is there or refused, at most until the deadline.
  /// Throws ConnectionLost, Cancelled.
  Opening wait_until_open(Instant deadline);

  bool write(std::span<const std::byte> frame, Instant deadline) override;
  std::size_t try_read(std::span<std::byte> into) override;
  void bind(Parker& reader) override;

 private:
  Poller& poller_;
  TaskRegistry& registry_;
  std::shared_ptr<TcpStream> stream_;
  std::uint64_t number_;
};

}  // namespace millrace::posix
