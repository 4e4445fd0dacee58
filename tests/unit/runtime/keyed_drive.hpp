#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/flow/writers.hpp"

#include "fake_world.hpp"
#include "stored_state.hpp"

namespace millrace {

/// Keeps what an operator lets out.
template <class T>
class Taking final : public Consumer<T> {
 public:
  std::vector<Record<T>> rows;
  std::vector<EventTime> watermarks;
  void take(Batch<T>& batch) override {
    for (Record<T>& row : batch) rows.push_back(std::move(row));
  }
  void watermark(EventTime time) override { watermarks.push_back(time); }
  void set_idle(bool) override {}
  void flush() override {}
  void link(Way, Stage&) override {}
};

/// All subtasks of a keyed operator, driven by hand: rows go to the owner of their key in batches
/// of some size, watermarks to all.
template <class S>
class KeyedDrive {
 public:
  using Out = typename S::Out;
  using Make = std::function<std::unique_ptr<S>(const StageContext& context)>;

  KeyedDrive(FakeWorld& world, int parallelism, const Make& make) : world_(world) {
    for (int i = 0; i < parallelism; ++i) {
      auto subtask = std::make_unique<One>();
      subtask->stage = make({world.env("operator." + std::to_string(i)), {i, parallelism}, {}});
      subtask->stage->link({}, subtask->out);
      subtasks_.push_back(std::move(subtask));
    }
  }

  /// One row at `port`, in a batch of its own.
  template <class T, class K>
  void take(int port, std::int64_t time, K key, T value) {
    deliver(port, std::vector<Record<Keyed<K, T>>>{
                      {EventTime{time}, {std::move(key), std::move(value)}}});
  }
  /// Rows in order, in one batch for each subtask.
  template <class Row>
  void deliver(int port, const std::vector<Record<Row>>& given) {
    for (std::size_t i = 0; i < subtasks_.size(); ++i) {
      Batch<Row> batch;
      const auto send = [&] {
        Parcel<Row> parcel(std::move(batch));
        subtasks_[i]->stage->deliver(port, parcel);
        batch = {};
      };
      for (const auto& row : given) {
        const auto owner = owner_of(group_of(hash_key(row.value.key)), size());
        if (owner != static_cast<int>(i)) continue;
        batch.add(row.time, row.value);
        if (batch.full()) send();
      }
      if (!batch.empty()) send();
    }
    collect();
  }
  template <class Row>
  void deliver_to_all(int port, std::int64_t time, const Row& row) {
    for (auto& subtask : subtasks_) {
      Batch<Row> batch;
      batch.add(EventTime{time}, row);
      Parcel<Row> parcel(std::move(batch));
      subtask->stage->deliver(port, parcel);
    }
    collect();
  }
  void advance(std::int64_t time) {
    for (auto& subtask : subtasks_) subtask->stage->watermark({time});
    collect();
  }
  void end() { advance(EventTime::max().ms); }
  /// What a task does when its node's clock says `wall`.
  void look_at_clock(std::int64_t wall) {
    for (auto& subtask : subtasks_) {
      if (subtask->stage->next_alarm() <= EventTime{wall}) subtask->stage->ring({wall});
    }
    collect();
  }
  EventTime next_alarm() const {
    EventTime next = EventTime::max();
    for (const auto& subtask : subtasks_) next = std::min(next, subtask->stage->next_alarm());
    return next;
  }

  Manifest save(std::uint64_t id = 1) {
    std::vector<Saved> saved;
    for (auto& subtask : subtasks_) saved.push_back({subtask->stage.get()});
    std::vector<Saved*> all;
    for (Saved& one : saved) all.push_back(&one);
    return checkpoint(world_, {{id}, 1}, "operator", all);
  }
  void restore(const Manifest& manifest) {
    Env env = world_.env();
    for (int i = 0; i < size(); ++i) {
      Restored restored;
      restored.sections = load_sections(env, manifest, "operator", {i, size()});
      subtasks_[static_cast<std::size_t>(i)]->stage->restore(restored);
    }
  }
  std::uint64_t late() { return save(99).records_late; }

  /// In the order in which they came; of one call by subtask.
  std::vector<Record<Out>> rows;
  std::vector<Out> values() const {
    std::vector<Out> list;
    for (const auto& row : rows) list.push_back(row.value);
    return list;
  }
  std::vector<EventTime>& watermarks() { return subtasks_[0]->out.watermarks; }
  S& stage(int i = 0) { return *subtasks_[static_cast<std::size_t>(i)]->stage; }

 private:
  struct One {
    Taking<Out> out;
    std::unique_ptr<S> stage;
  };
  struct Saved {
    S* stage;
    void save(Snapshot& snapshot) { stage->save(snapshot); }
  };
  int size() const { return static_cast<int>(subtasks_.size()); }
  void collect() {
    for (auto& subtask : subtasks_) {
      for (auto& row : subtask->out.rows) rows.push_back(std::move(row));
      subtask->out.rows.clear();
    }
  }

  FakeWorld& world_;
  std::vector<std::unique_ptr<One>> subtasks_;
};

}  // namespace millrace
