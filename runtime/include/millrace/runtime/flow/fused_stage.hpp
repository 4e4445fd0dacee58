#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/flow/watched.hpp"

namespace millrace {

/// Steps while somebody watches what they make of equal rows: they are functions of one row, so
/// nothing else may show in what they let out.
template <class Steps>
class WatchedSteps {
 public:
  WatchedSteps(const Steps& steps, const StageContext& context)
      : steps_(steps), context_(context) {}

  template <class V, class Next>
  void operator()(EventTime time, V&& value, Next&& next) const {
    if constexpr (Comparable<std::remove_cvref_t<V>>) {
      const std::uint64_t given = ValueHash().add(context_.place).add(time).add(value).finish();
      ValueHash result;
      bool is_comparable = true;
      steps_(time, std::forward<V>(value), [&](EventTime t, auto&& made) {
        if constexpr (Comparable<std::remove_cvref_t<decltype(made)>>) {
          result.add(t).add(made);
        } else {
          is_comparable = false;
        }
        next(t, std::forward<decltype(made)>(made));
      });
      if (is_comparable) {
        context_.env.user_code.ran(context_.env.role, {given, result.finish()});
      }
    } else {
      steps_(time, std::forward<V>(value), next);
    }
  }

 private:
  const Steps& steps_;
  const StageContext& context_;
};

/// A run of steps over the rows of another stage, in one loop without a call.
template <class In, class Steps, class Writer>
class FusedStage final : public Consumer<In> {
 public:
  FusedStage(const StageContext& context, Steps steps, Writer writer)
      : context_(context), steps_(std::move(steps)), writer_(std::move(writer)) {}

  void take(Batch<In>& rows) override {
    if (context_.env.user_code.is_watched()) [[unlikely]] {
      run(rows, WatchedSteps<Steps>(steps_, context_));
    } else {
      run(rows, steps_);
    }
  }
  void watermark(EventTime time) override { writer_.watermark(time); }
  void set_idle(bool is_idle) override { writer_.set_idle(is_idle); }
  void flush() override { writer_.flush(); }
  void link(Way way, Stage& next) override { writer_.link(way, next); }

 private:
  template <class S>
  void run(Batch<In>& rows, const S& steps) {
    writer_.write([&](auto& pen) {
      for (Record<In>& row : rows) {
        steps(row.time, std::move(row.value), [&pen](EventTime time, auto&& value) {
          pen.add(time, std::forward<decltype(value)>(value));
        });
      }
    });
  }

  StageContext context_;
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
  FusedSourceStage(const StageContext& context, TimeOf time_of, Steps steps, Writer writer)
      : context_(context),
        time_of_(std::move(time_of)),
        steps_(std::move(steps)),
        writer_(std::move(writer)) {}

  EventTime borrow(const T* rows, std::size_t count) override {
    if (context_.env.user_code.is_watched()) [[unlikely]] {
      return run(rows, count, WatchedSteps<Steps>(steps_, context_));
    }
    return run(rows, count, steps_);
  }
  void watermark(EventTime time) override { writer_.watermark(time); }
  void set_idle(bool is_idle) override { writer_.set_idle(is_idle); }
  void flush() override { writer_.flush(); }
  void link(Way way, Stage& next) override { writer_.link(way, next); }

 private:
  template <class S>
  EventTime run(const T* rows, std::size_t count, const S& steps) {
    EventTime newest = EventTime::min();
    writer_.write([&, rows, count](auto& pen) {
      // A local one stays in a register, whether or not the compiler puts this into the writer.
      EventTime latest = EventTime::min();
      for (std::size_t i = 0; i < count; ++i) {
        ask_for_rows_behind(rows[i]);
        const EventTime time = std::invoke(time_of_, rows[i]);
        latest = latest < time ? time : latest;
        steps(time, rows[i], [&pen](EventTime t, auto&& value) {
          pen.add(t, std::forward<decltype(value)>(value));
        });
      }
      newest = latest;
    });
    return newest;
  }

  /// Who lends rows often has more of them in the same piece of memory. They come while the batches
  /// before them are worked on; an address where there is nothing does no harm.
  [[gnu::always_inline]] static void ask_for_rows_behind(const T& row) {
    constexpr std::uintptr_t bytes_ahead = 12 * 1024;
    constexpr int not_written = 0;
    constexpr int into_second_cache = 2;
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&row) + bytes_ahead),
        not_written, into_second_cache);
  }

  StageContext context_;
  TimeOf time_of_;
  Steps steps_;
  Writer writer_;
};

}  // namespace millrace
