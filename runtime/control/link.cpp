#include "millrace/runtime/control/link.hpp"

#include <algorithm>

namespace millrace {
namespace {

/// What a control frame is. Its body: this, the number, the newest number received, the message.
enum class FrameKind : std::uint8_t { message = 1, beat = 2 };

constexpr std::size_t small_frame_bytes = 8 * 1024;

Bytes make_body(FrameKind kind, std::uint64_t number, std::uint64_t received) {
  Encoder out;
  out.number(static_cast<std::uint8_t>(kind));
  out.number(number);
  out.number(received);
  return out.take();
}

}  // namespace

ControlLink::ControlLink(Env& env, std::unique_ptr<Connection> connection, ControlTiming timing)
    : env_(env),
      connection_(std::move(connection)),
      timing_(timing),
      last_beat_(env.now()),
      last_heard_(env.now()) {
  connection_->bind(env.parker);
}

void ControlLink::send(const ControlMessage& message) {
  Encoder out;
  out.number(static_cast<std::uint8_t>(FrameKind::message));
  out.number(++last_sent_);
  out.number(std::uint64_t{0});  // Messages acknowledge nothing: they are sent again as they are.
  encode_message(out, message);
  pending_.push_back({last_sent_, make_frame(out.view()), std::nullopt});
  has_new_ = true;
}

std::vector<ControlMessage> ControlLink::pump() {
  std::vector<ControlMessage> messages;
  while (const auto body = reader_.next(*connection_)) {
    last_heard_ = env_.now();
    Decoder in(*body);
    const auto kind = static_cast<FrameKind>(in.number<std::uint8_t>());
    const auto number = in.number<std::uint64_t>();
    const auto received = in.number<std::uint64_t>();
    if (kind == FrameKind::message) {
      owes_acknowledgement_ = true;
      // One that came twice is dropped, one before its turn too: it will come again.
      if (number == last_received_ + 1) {
        last_received_ = number;
        messages.push_back(decode_message(in.skip(in.left())));
      }
    } else if (kind == FrameKind::beat) {
      while (!pending_.empty() && pending_.front().number <= received) pending_.pop_front();
    } else {
      throw CorruptBytes("a control frame is of an unknown kind");
    }
  }
  const Instant now = env_.now();
  if (now - last_heard_ >= timing_.dead_after) throw ConnectionLost("the other side is silent");
  if (owes_acknowledgement_ || now - last_beat_ >= timing_.heartbeat) beat();
  has_new_ = false;
  send_pending();
  return messages;
}

Instant ControlLink::next_pump() const {
  if (has_new_) return env_.now();
  Instant next = std::min(last_beat_ + timing_.heartbeat, last_heard_ + timing_.dead_after);
  if (!pending_.empty() && pending_.front().tried) {
    next = std::min(next, *pending_.front().tried + timing_.resend);
  }
  return next;
}

bool ControlLink::write(const Bytes& frame) {
  // A small frame goes whole or not at all. A large one may be cut short by its deadline, so it
  // gets time, and if that is not enough the conversation is beyond repair.
  if (frame.size() <= small_frame_bytes) return connection_->write(frame, env_.now());
  if (!connection_->write(frame, env_.in(timing_.dead_after))) {
    throw ConnectionLost("the other side does not take a large message");
  }
  return true;
}

void ControlLink::send_pending() {
  const Instant now = env_.now();
  for (Unacknowledged& message : pending_) {
    if (message.tried && now - *message.tried < timing_.resend) continue;
    message.tried = now;
    if (!write(message.frame)) return;  // The other side reads slowly; later.
  }
}

void ControlLink::beat() {
  last_beat_ = env_.now();
  if (write(make_frame(make_body(FrameKind::beat, 0, last_received_)))) {
    owes_acknowledgement_ = false;
  }
}

}  // namespace millrace
