#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/table.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// Folds rows per key and window, and lets a window's results out when the watermark passes its
/// end.
///
/// A row whose window has ended is late: counted and dropped. Windows without rows do not exist.
/// The watermark is part of the state (SEMANTICS WM-9): after a restore the same rows are late as
/// without it, and a window that has fired does not fire again.
template <class K, class V, class A>
class WindowStage final : public Consumer<Keyed<K, V>> {
  using State = typename A::State;
  using Table = KeyedTable<K, State>;
  using Result =
      std::remove_cvref_t<decltype(std::declval<const A&>().result(std::declval<const State&>()))>;

 public:
  using Out = Windowed<K, Result>;

  WindowStage(const StageContext& context, std::string name, A aggregate, Tumbling windows)
      : env_(context.env),
        at_(context.at),
        name_(std::move(name)),
        aggregate_(std::move(aggregate)),
        size_(windows.size) {}

  void take(Batch<Keyed<K, V>>& rows) override {
    const std::uint64_t late_before = late_;
    for (const Record<Keyed<K, V>>& row : rows) {
      if (current_ == nullptr || row.time < current_->window.start ||
          row.time >= current_->window.end) [[unlikely]] {
        current_ = find_pane(row.time);
        if (current_ == nullptr) continue;
      }
      State& state = current_->table.at(row.value.key, hash_key(row.value.key));
      aggregate_.add(state, row.value.value);
    }
    if (late_ != late_before) [[unlikely]] {
      env_.landmark(landmarks::rows_late, about(late_ - late_before));
    }
  }

  void watermark(EventTime time) override {
    if (time <= watermark_) return;
    watermark_ = time;
    current_ = nullptr;
    // Ended: the last instant of the window is at or before the watermark (WL-4, WM-1).
    const auto open = std::find_if(panes_.begin(), panes_.end(), [&](const auto& pane) {
      return last_instant(pane->window) > watermark_;
    });
    for (auto pane = panes_.begin(); pane != open; ++pane) fire(**pane);
    panes_.erase(panes_.begin(), open);
    outlet_.send(out_);
    outlet_.watermark(time);
  }

  void flush() override { outlet_.flush(); }
  void set_idle(bool is_idle) override { outlet_.set_idle(is_idle); }
  void link(Way, Stage& next) override { outlet_.add(next); }

  void save(Snapshot& snapshot) override {
    auto frozen = std::make_unique<FrozenWindows>();
    frozen->watermark = watermark_;
    frozen->late = late_;
    for (const auto& pane : panes_) {
      frozen->panes.push_back({pane->window.start, pane->table.freeze()});
    }
    snapshot.acknowledgement.watermarks.push_back({name_, watermark_});
    snapshot.acknowledgement.records_late += late_;
    snapshot.parts.push_back({name_, "windows", state_shape(), std::move(frozen)});
  }

  void restore(const Restored& restored) override {
    for (const RestoredSection& section : restored.sections) {
      expect_shape(name_, section, state_shape());
      Decoder in(section.bytes);
      // One for all subtasks, but behind inputs that fell idle (WM-4): there what has fired
      // anywhere has fired.
      watermark_ = std::max(watermark_, EventTime{in.number<std::int64_t>()});
      // Several subtasks may read this section. One of them goes on with its count.
      const auto late = in.number<std::uint64_t>();
      const auto first_group = static_cast<std::uint32_t>(section.groups.first);
      if (owner_of(first_group, at_.of) == at_.index) late_ += late;
      const auto panes = in.count(1);
      for (std::uint32_t i = 0; i < panes; ++i) restore_pane(in);
      in.expect_end();
    }
  }

 private:
  struct Pane {
    Window window;
    Table table;
  };
  struct FrozenWindows final : Frozen {
    struct FrozenPane {
      EventTime start;
      FrozenBlocks entries;
    };
    EventTime watermark;
    std::uint64_t late = 0;
    std::vector<FrozenPane> panes;

    void write(Encoder& out) const override {
      out.number(watermark.ms);
      out.number(late);
      out.number(static_cast<std::uint32_t>(panes.size()));
      for (const FrozenPane& pane : panes) {
        out.number(pane.start.ms);
        Table::write(pane.entries, out);
      }
    }
  };

  static constexpr std::uint64_t state_shape() { return mix64(shape<K>() ^ mix64(shape<State>())); }
  static EventTime last_instant(Window window) { return {window.end.ms - 1}; }

  /// The pane of a row's window, made if it is new; null if the row is late.
  [[gnu::noinline]] Pane* find_pane(EventTime time) {
    const Window window = window_at(time, size_);
    if (last_instant(window) <= watermark_) {
      ++late_;
      return nullptr;
    }
    return &pane_at(window);
  }
  Pane& pane_at(Window window) {
    const auto at = std::lower_bound(
        panes_.begin(), panes_.end(), window.start,
        [](const auto& pane, EventTime start) { return pane->window.start < start; });
    if (at != panes_.end() && (*at)->window.start == window.start) return **at;
    return **panes_.insert(at, std::make_unique<Pane>(Pane{window, {}}));
  }

  void fire(Pane& pane) {
    pane.table.each([&](const K& key, const State& state) {
      out_.add(last_instant(pane.window), Out{pane.window, key, aggregate_.result(state)});
      if (out_.full()) outlet_.send(out_);
    });
    env_.landmark(landmarks::window_fired, about(pane.table.size()));
  }

  LandmarkFields about(std::uint64_t count) const {
    LandmarkFields fields;
    fields.subtask = at_.index;
    fields.count = count;
    return fields;
  }

  void restore_pane(Decoder& in) {
    const EventTime start{in.number<std::int64_t>()};
    const auto entries = in.count(1);
    Pane* pane = nullptr;
    for (std::uint32_t i = 0; i < entries; ++i) {
      const K key = decoded<K>(in);
      State state = decoded<State>(in);
      const std::uint64_t hash = hash_key(key);
      if (owner_of(group_of(hash), at_.of) != at_.index) continue;
      if (pane == nullptr) pane = &pane_at({start, start + size_});
      pane->table.at(key, hash) = std::move(state);
    }
  }

  Env env_;
  Subtask at_;
  std::string name_;
  A aggregate_;
  Duration size_;
  std::vector<std::unique_ptr<Pane>> panes_;  ///< By start.
  Pane* current_ = nullptr;
  EventTime watermark_ = EventTime::min();
  std::uint64_t late_ = 0;
  Batch<Out> out_;
  Outlet<Out> outlet_;
};

}  // namespace millrace
