#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "millrace/env/event_time.hpp"
#include "millrace/env/int128.hpp"

#include "nexmark_floors.hpp"

namespace millrace::bench {

/// One multiplication: enough for ids that are close together.
struct IdHash {
  using is_avalanching = void;
  std::size_t operator()(std::int64_t id) const {
    const Uint128 product = Uint128{word(id)} * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(product) ^ static_cast<std::size_t>(product >> 64);
  }
};

/// What is known by an id.
template <class Value>
using IdMap = boost::unordered_flat_map<std::int64_t, Value, IdHash>;

/// The end of the span of `length` that holds `time`, of those end to end from the epoch.
inline EventTime span_end(EventTime time, Duration length) {
  return {(time.ms / length.count() + 1) * length.count()};
}

/// State of a few spans of event time that lie end to end. Each has a place of its own until a span
/// `Places` further on is asked for, so it must be empty again by then.
template <class State, std::size_t Places>
class Spans {
 public:
  explicit Spans(Duration length) : length_(length) {}

  State& holding(EventTime time) {
    if (time < begin_ || time >= end_) [[unlikely]] {
      end_ = span_end(time, length_);
      begin_ = end_ - length_;
      current_ = &ending_at(end_);
    }
    return *current_;
  }

  State& ending_at(EventTime end) {
    return states_[static_cast<std::size_t>(end.ms / length_.count()) % Places];
  }

 private:
  Duration length_;
  EventTime begin_;  // At first the span is empty.
  EventTime end_;
  State* current_ = nullptr;
  std::array<State, Places> states_;
};

/// The ends of such spans, one after the other, as the watermark passes them.
class Ends {
 public:
  Ends(Duration step, Events events)
      : step_(step), next_(events.empty() ? EventTime::max() : span_end(events[0].at, step)) {}

  /// Calls `close` with each that has been passed now that there is an event of `newest`. To be
  /// called before that event is looked at.
  template <class Close>
  void pass(EventTime newest, Close&& close) {
    while (newest - disorder >= next_) [[unlikely]] {
      const EventTime end = next_;
      next_ = next_ + step_;
      close(end);
    }
  }

  /// Calls `close` with all that are left up to `last`: the input has ended.
  template <class Close>
  void finish(EventTime last, Close&& close) {
    pass(last + disorder, close);
  }

 private:
  Duration step_;
  EventTime next_;
};

}  // namespace millrace::bench
