#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "millrace/env/instant.hpp"
#include "millrace/env/parker.hpp"

namespace millrace {

/// Where to connect to: a node and one of the services it listens for.
struct Endpoint {
  std::string node;
  std::string service;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// What a connection is for. The world's faults differ by it: on a control lane the simulated
/// network may also drop, hold and repeat whole frames, so control frames are numbered,
/// acknowledged and sent again. Real connections never do that; they only break.
enum class Lane : std::uint8_t { data, control, device };

/// A stream of bytes in both directions, in order, that can be slow, cut or reset.
///
/// Closing it, or the death of a node, loses what the other side has not read. One task reads and
/// one writes; they may be two.
class Connection {
 public:
  virtual ~Connection() = default;  ///< Closes. What was written may still arrive.

  /// Sends `frame` whole, waiting while the other side reads too slowly. A caller passes one frame
  /// of its protocol at a time, or several whole ones of a data lane.
  ///
  /// Returns false when the deadline came first: nothing was sent, or, of a frame larger than the
  /// connection's buffer, an unknown part, and then only closing is left.
  /// Throws ConnectionLost, Cancelled, Killed.
  virtual bool write(std::span<const std::byte> frame, Instant deadline) = 0;

  /// Reads what has arrived, at most `into.size()` bytes. 0: nothing now.
  ///
  /// Throws ConnectionLost, once all that arrived before was read.
  virtual std::size_t try_read(std::span<std::byte> into) = 0;

  /// Names the task that reads: unparked when there is something to read, or the connection broke.
  virtual void bind(Parker& reader) = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;

  /// The next connection that somebody opened, or null.
  virtual std::unique_ptr<Connection> try_accept() = 0;
  virtual void bind(Parker& acceptor) = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  /// Accepts connections to `service` of this node until the listener goes away.
  /// Throws WorldError if somebody on this node listens for it already.
  virtual std::unique_ptr<Listener> listen(std::string_view service) = 0;

  /// Opens a connection. Null: nobody listens there. No error, for so a cluster begins.
  ///
  /// Throws Unavailable: no answer by the deadline. ConnectionLost, Cancelled, Killed.
  virtual std::unique_ptr<Connection> connect(const Endpoint& to, Lane lane, Instant deadline) = 0;
};

}  // namespace millrace
