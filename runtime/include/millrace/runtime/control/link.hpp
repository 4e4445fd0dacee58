#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/runtime/control/messages.hpp"
#include "millrace/runtime/control/timing.hpp"
#include "millrace/runtime/flow/wire.hpp"

namespace millrace {

/// A conversation between coordinator and worker on one control connection.
///
/// On control lanes the simulated network may drop, hold and repeat frames, as a message bus would.
/// So frames are numbered, acknowledged and sent again until they are; what is received comes in
/// order and once. Never waits: `pump` sends what can be sent now. When the connection breaks, or
/// the other side is silent for too long, the conversation is over and cannot be resumed; whoever
/// spoke has to assume that nothing was heard.
class ControlLink {
 public:
  ControlLink(Env& env, std::unique_ptr<Connection> connection, ControlTiming timing);

  /// Puts `message` behind those sent before, for the next `pump`. Never fails: whether the link is
  /// over is found out in one place.
  void send(const ControlMessage& message);

  /// Sends, sends again, and takes in what has come.
  ///
  /// Throws ConnectionLost: the link is over. CorruptBytes: what came is no conversation of ours.
  std::vector<ControlMessage> pump();

  /// When `pump` should be called again at the latest, even if nothing comes.
  Instant next_pump() const;

 private:
  struct Unacknowledged {
    std::uint64_t number;
    Bytes frame;
    std::optional<Instant> tried;  ///< When it was last sent, or there was no room for it.
  };

  bool write(const Bytes& frame);
  void send_pending();
  void beat();

  Env& env_;
  std::unique_ptr<Connection> connection_;
  ControlTiming timing_;
  FrameReader reader_;
  std::deque<Unacknowledged> pending_;
  std::uint64_t last_sent_ = 0;      ///< Number of the newest message that was put.
  std::uint64_t last_received_ = 0;  ///< Number of the newest message that was taken in, in order.
  bool owes_acknowledgement_ = false;
  bool has_new_ = false;  ///< Messages were put since the last `pump`.
  Instant last_beat_;
  Instant last_heard_;
};

}  // namespace millrace
