#pragma once

#include <cstdint>
#include <memory>

#include "millrace/env/bytes.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/env/identity.hpp"
#include "millrace/runtime/batch.hpp"
#include "millrace/runtime/state/codec.hpp"

namespace millrace {

/// Rows of some type on their way between two tasks.
class AnyBatch {
 public:
  virtual ~AnyBatch() = default;
  /// Writes the rows for another node. The edge that carries them knows how to read them back.
  virtual void encode(Encoder& out) const = 0;
};

template <class T>
class Parcel final : public AnyBatch {
 public:
  explicit Parcel(Batch<T> batch) : rows(std::move(batch)) {}

  void encode(Encoder& out) const override {
    out.number(rows.size());
    for (const Record<T>& row : rows) {
      out.number(row.time.ms);
      millrace::encode(out, row.value);
    }
  }
  static std::unique_ptr<AnyBatch> decode(Decoder& in) {
    Batch<T> rows;
    const auto count = in.count(sizeof(std::int64_t));
    if (count > Batch<T>::room()) throw CorruptBytes("a batch has more rows than there is room");
    for (std::uint32_t i = 0; i < count; ++i) {
      const EventTime time{in.number<std::int64_t>()};
      rows.add(time, decoded<T>(in));
    }
    return std::make_unique<Parcel>(std::move(rows));
  }

  Batch<T> rows;
};

/// Whether the producer of a lane expects rows.
struct Activity {
  bool is_idle = false;
};

/// One thing in a lane: rows, or what stands between rows, in the order in which it was put.
struct Message {
  enum class Kind : std::uint8_t { rows = 1, watermark = 2, barrier = 3, activity = 4 };
  Kind kind = Kind::rows;
  std::unique_ptr<AnyBatch> rows;  ///< For `rows` only.
  EventTime watermark;             ///< For `watermark` only.
  CheckpointId barrier;            ///< For `barrier` only.
  Activity activity;               ///< For `activity` only.

  static Message of(std::unique_ptr<AnyBatch> batch) {
    return {Kind::rows, std::move(batch), {}, {}, {}};
  }
  static Message of(EventTime watermark) { return {Kind::watermark, nullptr, watermark, {}, {}}; }
  static Message of(CheckpointId barrier) { return {Kind::barrier, nullptr, {}, barrier, {}}; }
  static Message of(Activity activity) { return {Kind::activity, nullptr, {}, {}, activity}; }
};

/// One way out of a task: where messages for one subtask of the next operators are put.
class LaneOut {
 public:
  virtual ~LaneOut() = default;

  /// Puts `message` at the end; waits while the lane is full. Rows and watermarks may stay here for
  /// company until `flush`: whoever takes them is woken less often. A barrier stays for nothing.
  /// Throws ConnectionLost and other WorldErrors, Cancelled, Killed.
  virtual void put(Message message) = 0;
  /// Lets all go that stayed. Throws as `put`.
  virtual void flush() = 0;
};

}  // namespace millrace
