#include "millrace/runtime/flow/lane.hpp"

namespace millrace {
namespace {

bool may_stay(const Message& message) {
  return message.kind == Message::Kind::rows || message.kind == Message::Kind::watermark;
}

}  // namespace

void LocalLaneOut::put(Message message) {
  const bool stays = may_stay(message);
  staying_.push_back(std::move(message));
  if (!stays || staying_.size() == most_in_company) flush();
}

void LocalLaneOut::flush() {
  for (Message& message : staying_) channel_->put(std::move(message), self_);
  staying_.clear();
}

void RemoteLaneOut::put(Message message) {
  const bool stays = may_stay(message);
  const auto begun = begin_frame(staying_);
  staying_.number(static_cast<std::uint8_t>(message.kind));
  switch (message.kind) {
    case Message::Kind::rows: message.rows->encode(staying_); break;
    case Message::Kind::watermark: staying_.number(message.watermark.ms); break;
    case Message::Kind::barrier:
      staying_.number(message.barrier.term.number);
      staying_.number(message.barrier.n);
      break;
    case Message::Kind::activity: encode(staying_, message.activity.is_idle); break;
  }
  end_frame(staying_, begun);
  ++messages_;
  if (stays && messages_ < most_in_company && staying_.size() < most_bytes_in_company) return;
  flush();
}

void RemoteLaneOut::flush() {
  if (messages_ == 0) return;
  if (!connection_->write(staying_.view(), Instant::never())) {
    throw ConnectionLost("a lane did not take a frame");
  }
  staying_.clear();
  messages_ = 0;
}

std::optional<Message> RemoteLaneIn::try_take() {
  const auto frame = reader_.next(*connection_);
  if (!frame) return std::nullopt;
  Decoder in(*frame);
  switch (static_cast<Message::Kind>(in.number<std::uint8_t>())) {
    case Message::Kind::rows: {
      auto rows = decode_(in);
      in.expect_end();
      return Message::of(std::move(rows));
    }
    case Message::Kind::watermark: {
      const EventTime watermark{in.number<std::int64_t>()};
      in.expect_end();
      return Message::of(watermark);
    }
    case Message::Kind::barrier: {
      const auto term = in.number<std::uint64_t>();
      const auto n = in.number<std::uint64_t>();
      in.expect_end();
      return Message::of(CheckpointId{{term}, n});
    }
    case Message::Kind::activity: {
      const Activity activity{decoded<bool>(in)};
      in.expect_end();
      return Message::of(activity);
    }
  }
  throw CorruptBytes("a lane carries a message of an unknown kind");
}

}  // namespace millrace
