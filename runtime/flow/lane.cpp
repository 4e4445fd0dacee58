#include "millrace/runtime/flow/lane.hpp"

namespace millrace {

void RemoteLaneOut::put(Message message) {
  Encoder body;
  body.number(static_cast<std::uint8_t>(message.kind));
  switch (message.kind) {
    case Message::Kind::rows: message.rows->encode(body); break;
    case Message::Kind::watermark: body.number(message.watermark.ms); break;
    case Message::Kind::barrier:
      body.number(message.barrier.term.number);
      body.number(message.barrier.n);
      break;
    case Message::Kind::activity: encode(body, message.activity.is_idle); break;
  }
  const Bytes frame = make_frame(body.view());
  if (!connection_->write(frame, Instant::never())) {
    throw ConnectionLost("a lane did not take a frame");
  }
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
