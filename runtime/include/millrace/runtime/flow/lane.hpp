#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/env/channel.hpp"
#include "millrace/env/env.hpp"
#include "millrace/runtime/flow/message.hpp"
#include "millrace/runtime/flow/wire.hpp"

namespace millrace {

/// How rows of an edge are read back on another node: `Parcel<T>::decode` of the edge's type.
using DecodeRows = std::unique_ptr<AnyBatch> (*)(Decoder& in);

/// How many messages a lane within a node holds. Fewer cost switches, more cost memory and the
/// time a barrier waits behind rows.
inline constexpr std::size_t lane_room = 16;

/// How many messages of a lane leave together: to wake somebody costs about as much as a batch
/// does.
inline constexpr std::size_t most_in_company = 8;
/// Between nodes also no more than so much: rows may hold long texts.
inline constexpr std::size_t most_bytes_in_company = 64 << 10;

using LaneChannel = Channel<Message>;

/// A lane to a task of the same node: messages are moved.
class LocalLaneOut final : public LaneOut {
 public:
  LocalLaneOut(std::shared_ptr<LaneChannel> channel, Parker& self)
      : channel_(std::move(channel)), self_(self) {}
  void put(Message message) override;
  void flush() override;

 private:
  std::shared_ptr<LaneChannel> channel_;
  Parker& self_;
  std::vector<Message> staying_;
};

/// A lane to another node: messages are frames of a connection of their own, so that a blocked
/// lane never stands in front of another's barrier (PROTOCOL 5).
class RemoteLaneOut final : public LaneOut {
 public:
  explicit RemoteLaneOut(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  void put(Message message) override;
  void flush() override;

 private:
  std::unique_ptr<Connection> connection_;
  Encoder staying_;           ///< Frames,
  std::size_t messages_ = 0;  ///< and how many.
};

/// The other end of a lane, at the task that takes from it.
class LaneIn {
 public:
  virtual ~LaneIn() = default;
  /// Throws ConnectionLost, CorruptBytes, Killed.
  virtual std::optional<Message> try_take() = 0;
};

class LocalLaneIn final : public LaneIn {
 public:
  LocalLaneIn(std::shared_ptr<LaneChannel> channel, Parker& self) : channel_(std::move(channel)) {
    channel_->bind(self);
  }
  std::optional<Message> try_take() override { return channel_->try_take(); }

 private:
  std::shared_ptr<LaneChannel> channel_;
};

class RemoteLaneIn final : public LaneIn {
 public:
  RemoteLaneIn(std::unique_ptr<Connection> connection, FrameReader reader, DecodeRows decode,
               Parker& self)
      : connection_(std::move(connection)), reader_(std::move(reader)), decode_(decode) {
    connection_->bind(self);
  }
  std::optional<Message> try_take() override;

 private:
  std::unique_ptr<Connection> connection_;
  FrameReader reader_;
  DecodeRows decode_;
};

}  // namespace millrace
