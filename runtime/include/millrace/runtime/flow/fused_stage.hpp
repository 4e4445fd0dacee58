#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "millrace/runtime/flow/stage.hpp"

namespace millrace {

/// A run of steps over the rows of another stage, in one loop without a call.
template <class In, class Steps, class Writer>
class FusedStage final : public Consumer<In> {
 public:
  FusedStage(Steps steps, Writer writer) : steps_(std::move(steps)), writer_(std::move(writer)) {}

  void take(Batch<In>& rows) override {
    writer_.write([&](auto& pen) {
      for (Record<In>& row : rows) {
        steps_(row.time, std::move(row.value), [&pen](EventTime time, auto&& value) {
          pen.add(time, std::forward<decltype(value)>(value));
        });
      }
    });
  }
  void watermark(EventTime time) override { writer_.watermark(time); }
  void set_idle(bool is_idle) override { writer_.set_idle(is_idle); }
  void flush() override { writer_.flush(); }
  void link(Way way, Stage& next) override { writer_.link(way, next); }

 private:
  Steps steps_;
  Writer writer_;
};

/// Takes the rows that a source lends.
template <class T>
class Borrower : public Stage {
 public:
  /// Runs over `count` rows and returns the largest event time among them.
  virtual EventTime borrow(const T* rows, std::size_t count) = 0;

  void deliver(int, AnyBatch&) override {
    invariant(false, "the first steps behind a source take what it lends, and nothing else");
  }
};

/// A run of steps over the rows that a source lends: nothing is copied before the last step.
template <class T, class TimeOf, class Steps, class Writer>
class FusedSourceStage final : public Borrower<T> {
 public:
  FusedSourceStage(TimeOf time_of, Steps steps, Writer writer)
      : time_of_(std::move(time_of)), steps_(std::move(steps)), writer_(std::move(writer)) {}

  EventTime borrow(const T* rows, std::size_t count) override {
    EventTime newest = EventTime::min();
    writer_.write([&](auto& pen) {
      for (std::size_t i = 0; i < count; ++i) {
        const EventTime time = std::invoke(time_of_, rows[i]);
        newest = newest < time ? time : newest;
        steps_(time, rows[i], [&pen](EventTime t, auto&& value) {
          pen.add(t, std::forward<decltype(value)>(value));
        });
      }
    });
    return newest;
  }
  void watermark(EventTime time) override { writer_.watermark(time); }
  void set_idle(bool is_idle) override { writer_.set_idle(is_idle); }
  void flush() override { writer_.flush(); }
  void link(Way way, Stage& next) override { writer_.link(way, next); }

 private:
  TimeOf time_of_;
  Steps steps_;
  Writer writer_;
};

}  // namespace millrace
