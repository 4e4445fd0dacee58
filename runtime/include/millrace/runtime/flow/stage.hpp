#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/runtime/flow/message.hpp"
#include "millrace/runtime/state/snapshot.hpp"

namespace millrace {

/// Which of an operator's subtasks this is.
struct Subtask {
  int index = 0;
  int of = 1;
};

/// Where a stage is made: its subtask, and the world under the stage's own role.
struct StageContext {
  Env env;
  Subtask at;
  CheckpointId restored;  ///< The checkpoint that the task starts from.
  Lineage lineage{};      ///< Of the job's history.
  Term term{};            ///< Of whoever started the task.
  int place = 0;          ///< Which stage of its task's chain it is.
};

/// One of the ways out of a stage: lane number `lane` of the `lanes` to the subtasks that take what
/// it gives at output `output`.
struct Way {
  int output = 0;
  int lane = 0;
  int lanes = 1;
};

/// One link of a task's chain. A task calls its first stage, and each stage calls the next: once a
/// batch, never once a row.
class Stage {
 public:
  virtual ~Stage() = default;

  /// Rows from another task, at input `port`.
  virtual void deliver(int port, AnyBatch& rows) = 0;
  /// No row at or before `time` follows, unless it is late.
  virtual void watermark(EventTime time) = 0;
  /// Whether rows are expected: while they are not, nobody waits for a watermark from here
  /// (WM-3, WM-5). Told only when it changes; everything begins active.
  virtual void set_idle(bool is_idle) = 0;
  /// Hands on whatever is buffered, to the end of every lane.
  virtual void flush() = 0;
  /// Connects one way out to `next`.
  virtual void link(Way way, Stage& next) = 0;

  /// When, by the node's wall clock, the stage wants to be called; the largest time: never.
  virtual EventTime next_alarm() const { return EventTime::max(); }
  /// The node's wall clock says `now`, and that is not before `next_alarm`. Clocks jump: nothing
  /// that must be right depends on it.
  virtual void ring(EventTime /*now*/) {}

  /// Adds what the stage must find again to `snapshot`: a view that later rows do not change.
  virtual void save(Snapshot& /*snapshot*/) {}
  /// Takes up what `save` of all subtasks of the operator left, or nothing at the very start.
  virtual void restore(const Restored& /*restored*/) {}
  /// A checkpoint's rows are known to be visible.
  virtual void published(CheckpointId /*id*/) {}
};

/// A stage that takes rows of T.
template <class T>
class Consumer : public Stage {
 public:
  /// Rows in order. The consumer may take them away; the caller clears what is left.
  virtual void take(Batch<T>& rows) = 0;

  /// Whatever the port: several streams of one type that meet here are one (`merge`).
  void deliver(int, AnyBatch& rows) override { take(static_cast<Parcel<T>&>(rows).rows); }
};

/// Where a stage leaves its rows: nobody, one stage, or several.
template <class T>
class Outlet {
 public:
  /// The planner has checked that `next` takes rows of T.
  void add(Stage& next) { next_.push_back(static_cast<Consumer<T>*>(&next)); }

  void send(Batch<T>& rows) {
    if (rows.empty()) return;
    for (std::size_t i = 0; i + 1 < next_.size(); ++i) {
      Batch<T> copy;
      for (const Record<T>& row : rows) copy.add(row.time, row.value);
      next_[i]->take(copy);
    }
    if (!next_.empty()) next_.back()->take(rows);
    rows.clear();
  }
  void watermark(EventTime time) {
    for (Stage* next : next_) next->watermark(time);
  }
  void set_idle(bool is_idle) {
    for (Stage* next : next_) next->set_idle(is_idle);
  }
  void flush() {
    for (Stage* next : next_) next->flush();
  }

 private:
  std::vector<Consumer<T>*> next_;
};

/// The end of a chain: puts batches into a lane to another task.
template <class T>
class LaneStage final : public Consumer<T> {
 public:
  explicit LaneStage(LaneOut& lane) : lane_(lane) {}
  void take(Batch<T>& rows) override {
    lane_.put(Message::of(std::make_unique<Parcel<T>>(std::move(rows))));
  }
  void watermark(EventTime time) override { lane_.put(Message::of(time)); }
  void set_idle(bool is_idle) override { lane_.put(Message::of(Activity{is_idle})); }
  void flush() override { lane_.flush(); }
  void link(Way, Stage&) override {}

 private:
  LaneOut& lane_;
};

}  // namespace millrace
