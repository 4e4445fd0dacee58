#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "millrace/env/bytes.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/runtime/state/codec.hpp"

namespace millrace {

/// How a partition's watermark follows from its records, in a user's own way.
///
///     struct Punctuated {   // Some records say how far time has come.
///       struct State { EventTime said; };
///       void observe(State& s, const Tick& tick, EventTime) const {
///         if (tick.is_last_of_its_second) s.said = tick.at;
///       }
///       EventTime watermark(const State& s) const { return s.said; }
///     };
///
/// All memory is in State: there is one for each partition, and it is part of every checkpoint. A
/// watermark W says that no record at or before W follows (WM-1); EventTime::min(): nothing is
/// known. What it gives below what it gave before is passed over.
template <class G, class T>
concept WatermarkGenerator =
    std::default_initializable<typename G::State> &&
    requires(const G& g, typename G::State& s, const typename G::State& known, const T& row) {
      g.observe(s, row, EventTime{});
      { g.watermark(known) } -> std::convertible_to<EventTime>;
    };

/// A generator at work on one partition. Called once a batch.
template <class T>
class PartitionWatermark {
 public:
  virtual ~PartitionWatermark() = default;
  virtual void observe(const T* rows, std::size_t count) = 0;
  virtual EventTime watermark() const = 0;
  virtual Bytes save() const = 0;
  /// Throws CorruptBytes.
  virtual void restore(const Bytes& saved) = 0;
};

template <class T>
using MakePartitionWatermark = std::function<std::unique_ptr<PartitionWatermark<T>>()>;

template <class T, class TimeOf, class G>
class GeneratedWatermark final : public PartitionWatermark<T> {
 public:
  GeneratedWatermark(TimeOf time_of, G generator)
      : time_of_(std::move(time_of)), generator_(std::move(generator)) {}

  void observe(const T* rows, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      generator_.observe(state_, rows[i], std::invoke(time_of_, rows[i]));
    }
  }
  EventTime watermark() const override { return generator_.watermark(state_); }
  Bytes save() const override {
    Encoder out;
    encode(out, state_);
    return out.take();
  }
  void restore(const Bytes& saved) override {
    if (saved.empty()) return;  // Nothing was read yet.
    Decoder in(saved);
    decode(in, state_);
    in.expect_end();
  }

 private:
  TimeOf time_of_;
  G generator_;
  typename G::State state_{};
};

}  // namespace millrace
