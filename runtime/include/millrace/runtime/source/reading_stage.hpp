#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/flow/fused_stage.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/time/idleness.hpp"
#include "millrace/runtime/time/partition_clock.hpp"
#include "millrace/runtime/time/valve.hpp"
#include "millrace/runtime/time/watermark_generator.hpp"

namespace millrace {

/// The first stage of a source task, as the task drives it.
class SourceStage : public Stage {
 public:
  enum class Step : std::uint8_t {
    read,   ///< Something was read.
    idle,   ///< There is nothing now.
    ended,  ///< Every partition of this subtask was read to its end.
  };
  /// Reads from one partition, at most `most` records.
  virtual Step step(std::size_t most) = 0;
  /// Sends the watermark if it has advanced. Called now and then, and before every barrier.
  virtual void advance() = 0;
  /// The task has waited for so long because there was nothing to read. Time in which it was held
  /// up, or had something to read, does not count (WM-7).
  virtual void waited(std::chrono::nanoseconds span) = 0;
  /// How much longer until some partition is idle; nothing: none will be.
  virtual std::optional<std::chrono::nanoseconds> patience() const = 0;
  virtual std::uint64_t records_read() const = 0;

  void deliver(int, AnyBatch&) override { invariant(false, "nothing is sent to a source"); }
};

/// How a source tells time: what its watermark is made of, and when a partition counts as idle.
template <class T>
struct SourceTime {
  Disorder disorder;
  MakePartitionWatermark<T> generator;  ///< Instead of `disorder`, if there is one.
  std::optional<std::chrono::nanoseconds> idle_after;
};

/// Reads the partitions of one subtask, keeping them abreast of each other in event time.
template <class T>
class ReadingStage final : public SourceStage {
 public:
  ReadingStage(const StageContext& context, std::string name, Source<T> source, SourceTime<T> time)
      : env_(context.env),
        at_(context.at),
        name_(std::move(name)),
        source_(std::move(source)),
        time_(std::move(time)) {}

  Step step(std::size_t most) override {
    if (has_ended()) return Step::ended;
    for (Partition& partition : partitions_) partition.asked = false;
    while (Partition* const next = furthest_behind()) {
      if (read(*next, most)) return Step::read;
    }
    return has_ended() ? Step::ended : Step::idle;
  }

  void advance() override {
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      if (!partitions_[i].idleness.is_idle()) {
        pass_on(valve_.advance(static_cast<int>(i), partitions_[i].watermark()));
      }
    }
    // A subtask without partitions holds nobody back.
    if (partitions_.empty() && valve_.merged() < EventTime::max()) {
      pass_on(valve_.advance(0, EventTime::max()));
    }
    if (due_ <= sent_) return;
    sent_ = due_;
    for (Borrower<T>* next : next_) next->watermark(sent_);
  }

  void waited(std::chrono::nanoseconds span) override {
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      Partition& partition = partitions_[i];
      if (partition.clock.has_ended() || partition.idleness.is_idle()) continue;
      partition.idleness.wait(span);
      if (partition.idleness.is_idle()) set_idle(i);
    }
  }
  std::optional<std::chrono::nanoseconds> patience() const override {
    std::optional<std::chrono::nanoseconds> shortest;
    for (const Partition& partition : partitions_) {
      if (partition.clock.has_ended()) continue;
      const auto left = partition.idleness.patience();
      if (left) shortest = std::min(shortest.value_or(*left), *left);
    }
    return shortest;
  }

  std::uint64_t records_read() const override {
    std::uint64_t sum = 0;
    for (const Partition& partition : partitions_) sum += partition.records;
    return sum;
  }

  void watermark(EventTime) override { invariant(false, "nothing is sent to a source"); }
  void set_idle(bool) override { invariant(false, "nothing is sent to a source"); }
  void flush() override {
    for (Borrower<T>* next : next_) next->flush();
  }
  void link(Way, Stage& next) override { next_.push_back(static_cast<Borrower<T>*>(&next)); }

  void save(Snapshot& snapshot) override {
    for (const Partition& partition : partitions_) {
      PartitionProgress progress;
      progress.source = name_;
      progress.name = partition.name;
      progress.position = partition.reader->position();
      progress.newest = partition.clock.newest();
      progress.ended = partition.clock.has_ended();
      progress.records = partition.records;
      progress.skipped = partition.skipped();
      if (partition.generator != nullptr) progress.generator = partition.generator->save();
      snapshot.acknowledgement.partitions.push_back(std::move(progress));
    }
  }

  void restore(const Restored& restored) override {
    for (const RestoredPartition& from : restored.partitions) {
      const PartitionProgress& progress = from.progress;
      Partition partition;
      partition.name = progress.name;
      partition.clock = PartitionClock(time_.disorder, progress.newest, progress.ended);
      partition.idleness = Idleness(time_.idle_after);
      if (time_.generator != nullptr) {
        partition.generator = time_.generator();
        partition.generator->restore(progress.generator);
      }
      partition.records = progress.records;
      partition.skipped_before = progress.skipped;
      partition.reader = source_.open(env_, progress.name, progress.position, from.end);
      partitions_.push_back(std::move(partition));
    }
    valve_ = Valve(std::max(1, static_cast<int>(partitions_.size())));
  }

 private:
  struct Partition {
    std::string name;
    std::unique_ptr<SourceReader<T>> reader;
    PartitionClock clock;
    Idleness idleness;
    std::unique_ptr<PartitionWatermark<T>> generator;  ///< Null: the clock tells the watermark.
    std::uint64_t records = 0;
    std::uint64_t skipped_before = 0;
    bool asked = false;  ///< And had nothing, in this step.

    std::uint64_t skipped() const { return skipped_before + reader->skipped(); }
    EventTime watermark() const {
      return generator == nullptr || clock.has_ended() ? clock.watermark() : generator->watermark();
    }
  };

  /// Of those that may have something, the partition with the smallest watermark; the first of
  /// equal ones. So none runs ahead and piles up windows that the slowest keeps open.
  Partition* furthest_behind() {
    Partition* chosen = nullptr;
    for (Partition& partition : partitions_) {
      if (partition.clock.has_ended() || partition.asked) continue;
      if (chosen == nullptr || partition.watermark() < chosen->watermark()) chosen = &partition;
    }
    return chosen;
  }

  /// Returns whether there was a record.
  bool read(Partition& partition, std::size_t most) {
    const Reading<T> reading = partition.reader->next(most);
    partition.asked = true;
    if (!reading.rows.empty()) {
      if (partition.idleness.is_idle()) wake(partition);
      partition.idleness.observe();
      EventTime newest = EventTime::min();
      for (Borrower<T>* next : next_) {
        newest = next->borrow(reading.rows.data(), reading.rows.size());
      }
      partition.clock.observe(newest);
      if (partition.generator != nullptr) {
        partition.generator->observe(reading.rows.data(), reading.rows.size());
      }
      partition.records += reading.rows.size();
      LandmarkFields fields;
      fields.subtask = at_.index;
      fields.count = reading.rows.size();
      env_.landmark(landmarks::batch_read, fields);
    }
    if (reading.then == Reading<T>::Then::end) {
      // The end is its last watermark, and nobody hears those of an idle partition.
      if (partition.idleness.is_idle()) wake(partition);
      partition.idleness.observe();
      partition.clock.end();
    }
    return !reading.rows.empty();
  }

  /// Before the rows that wake it: whoever is behind must not go on without it.
  void wake(const Partition& partition) {
    pass_on(valve_.wake(static_cast<int>(&partition - partitions_.data())));
  }
  void set_idle(std::size_t partition) {
    // What was read from it has told its watermark, and that goes first.
    const auto input = static_cast<int>(partition);
    pass_on(valve_.advance(input, partitions_[partition].watermark()));
    pass_on(valve_.set_idle(input));
  }
  void pass_on(const ValveAction& action) {
    if (action.watermark) due_ = *action.watermark;
    if (!action.idle) return;
    if (due_ > sent_) {
      sent_ = due_;
      for (Borrower<T>* next : next_) next->watermark(sent_);
    }
    for (Borrower<T>* next : next_) next->set_idle(*action.idle);
  }

  bool has_ended() const {
    return std::all_of(partitions_.begin(), partitions_.end(),
                       [](const Partition& partition) { return partition.clock.has_ended(); });
  }

  Env env_;
  Subtask at_;
  std::string name_;
  Source<T> source_;
  SourceTime<T> time_;
  std::vector<Partition> partitions_;  ///< In the order of their names.
  std::vector<Borrower<T>*> next_;
  Valve valve_{1};
  EventTime due_ = EventTime::min();   ///< The merged watermark,
  EventTime sent_ = EventTime::min();  ///< and how much of it was sent.
};

}  // namespace millrace
