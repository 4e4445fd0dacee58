#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/runtime/flow/fused_stage.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/time/partition_clock.hpp"

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
  virtual std::uint64_t records_read() const = 0;

  void deliver(int, AnyBatch&) override { invariant(false, "nothing is sent to a source"); }
};

/// Reads the partitions of one subtask, keeping them abreast of each other in event time.
template <class T>
class ReadingStage final : public SourceStage {
 public:
  ReadingStage(const StageContext& context, Source<T> source, Disorder disorder)
      : env_(context.env), at_(context.at), source_(std::move(source)), disorder_(disorder) {}

  Step step(std::size_t most) override {
    if (has_ended()) return Step::ended;
    for (Partition& partition : partitions_) partition.asked = false;
    while (Partition* const next = furthest_behind()) {
      if (read(*next, most)) return Step::read;
    }
    return has_ended() ? Step::ended : Step::idle;
  }

  void advance() override {
    const EventTime now = merged_watermark();
    if (now <= sent_) return;
    sent_ = now;
    for (Borrower<T>* next : next_) next->watermark(now);
  }

  std::uint64_t records_read() const override {
    std::uint64_t sum = 0;
    for (const Partition& partition : partitions_) sum += partition.records;
    return sum;
  }

  void watermark(EventTime) override { invariant(false, "nothing is sent to a source"); }
  void flush() override {
    for (Borrower<T>* next : next_) next->flush();
  }
  void link(int, int, Stage& next) override { next_.push_back(static_cast<Borrower<T>*>(&next)); }

  void save(Snapshot& snapshot) override {
    for (const Partition& partition : partitions_) {
      PartitionProgress progress;
      progress.name = partition.name;
      progress.position = partition.reader->position();
      progress.newest = partition.clock.newest();
      progress.ended = partition.clock.has_ended();
      progress.records = partition.records;
      progress.skipped = partition.skipped();
      snapshot.acknowledgement.partitions.push_back(std::move(progress));
    }
  }

  void restore(const Restored& restored) override {
    for (const RestoredPartition& from : restored.partitions) {
      const PartitionProgress& progress = from.progress;
      Partition partition;
      partition.name = progress.name;
      partition.clock = PartitionClock(disorder_, progress.newest, progress.ended);
      partition.records = progress.records;
      partition.skipped_before = progress.skipped;
      partition.reader = source_.open(env_, progress.name, progress.position, from.end);
      partitions_.push_back(std::move(partition));
    }
  }

 private:
  struct Partition {
    std::string name;
    std::unique_ptr<SourceReader<T>> reader;
    PartitionClock clock;
    std::uint64_t records = 0;
    std::uint64_t skipped_before = 0;
    bool asked = false;  ///< And had nothing, in this step.

    std::uint64_t skipped() const { return skipped_before + reader->skipped(); }
  };

  /// Of those that may have something, the partition with the smallest watermark; the first of
  /// equal ones. So none runs ahead and piles up windows that the slowest keeps open.
  Partition* furthest_behind() {
    Partition* chosen = nullptr;
    for (Partition& partition : partitions_) {
      if (partition.clock.has_ended() || partition.asked) continue;
      if (chosen == nullptr || partition.clock.watermark() < chosen->clock.watermark()) {
        chosen = &partition;
      }
    }
    return chosen;
  }

  /// Returns whether there was a record.
  bool read(Partition& partition, std::size_t most) {
    const Reading<T> reading = partition.reader->next(most);
    partition.asked = true;
    if (!reading.rows.empty()) {
      EventTime newest = EventTime::min();
      for (Borrower<T>* next : next_) {
        newest = next->borrow(reading.rows.data(), reading.rows.size());
      }
      partition.clock.observe(newest);
      partition.records += reading.rows.size();
      LandmarkFields fields;
      fields.subtask = at_.index;
      fields.count = reading.rows.size();
      env_.landmark(landmarks::batch_read, fields);
    }
    if (reading.then == Reading<T>::Then::end) partition.clock.end();
    return !reading.rows.empty();
  }

  bool has_ended() const {
    return std::all_of(partitions_.begin(), partitions_.end(),
                       [](const Partition& partition) { return partition.clock.has_ended(); });
  }
  EventTime merged_watermark() const {
    EventTime merged = EventTime::max();
    for (const Partition& partition : partitions_) {
      merged = std::min(merged, partition.clock.watermark());
    }
    return merged;
  }

  Env env_;
  Subtask at_;
  Source<T> source_;
  Disorder disorder_;
  std::vector<Partition> partitions_;  ///< In the order of their names.
  std::vector<Borrower<T>*> next_;
  EventTime sent_ = EventTime::min();
};

}  // namespace millrace
