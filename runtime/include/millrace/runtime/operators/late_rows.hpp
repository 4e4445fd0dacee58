#pragma once

#include <cstdint>
#include <utility>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/landmarks.hpp"

namespace millrace {

/// How many rows travelled as one.
template <class V>
constexpr std::uint64_t rows_in(const V&) {
  return 1;
}
template <class S>
constexpr std::uint64_t rows_in(const Partial<S>& part) {
  return part.rows;
}
template <class S>
constexpr std::uint64_t rows_in(const SessionPart<S>& part) {
  return part.rows;
}

/// What becomes of rows that come too late for a window operator: they go to the next stages, if
/// somebody asked for them, and are dropped and counted otherwise. So each row is in a result, in
/// the late stream or in the count, and in one of them only.
///
/// Their times are behind the watermark that goes with them: a window over them would find them
/// late again.
template <class V>
class LateRows {
 public:
  explicit LateRows(const StageContext& context)
      : env_(context.env), subtask_(context.at.index), dropped_(0) {}

  [[gnu::noinline]] void add(EventTime time, const V& value) {
    seen_ += rows_in(value);
    if (!is_wanted_) {
      dropped_ += rows_in(value);
      return;
    }
    rows_.add(time, value);
    if (rows_.full()) outlet_.send(rows_);
  }
  /// At the end of a batch.
  void send() {
    if (seen_ == 0) [[likely]] {
      return;
    }
    LandmarkFields fields;
    fields.subtask = subtask_;
    fields.count = std::exchange(seen_, 0);
    env_.landmark(landmarks::rows_late, fields);
    outlet_.send(rows_);
  }

  void link(Stage& next) {
    is_wanted_ = true;
    outlet_.add(next);
  }
  void watermark(EventTime time) { outlet_.watermark(time); }
  void set_idle(bool is_idle) { outlet_.set_idle(is_idle); }
  void flush() { outlet_.flush(); }

  /// Rows that nobody got. Part of the operator's state.
  std::uint64_t dropped() const { return dropped_; }
  void restore(std::uint64_t dropped) { dropped_ += dropped; }

 private:
  Env env_;
  int subtask_;
  bool is_wanted_ = false;
  std::uint64_t seen_ = 0;  ///< In this batch.
  std::uint64_t dropped_;
  Batch<V> rows_;
  Outlet<V> outlet_;
};

}  // namespace millrace
