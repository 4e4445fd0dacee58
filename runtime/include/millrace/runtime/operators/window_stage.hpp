#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/operators/late_rows.hpp"
#include "millrace/runtime/state/look_ahead.hpp"
#include "millrace/runtime/state/table.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// Folds rows per key and window, and lets a window's results out when the watermark reaches its
/// last instant: tumbling and sliding windows without a trigger of their own.
///
/// Rows are folded into panes, which all windows that cover them share; panes are put together when
/// a window fires. For folds that can be taken apart a running total takes in the newest pane and
/// gives up the oldest; others are merged. A pane that is behind the watermark does not change any
/// more, and so its blocks are uploaded once.
///
/// A row all of whose windows have been cleaned up is late (LateRows). With allowed lateness a row
/// may come after windows of it have fired: each of these lets its key's result out again, at once
/// (WL-4), which costs a lookup in every pane of the window.
///
/// The watermark is part of the state (SEMANTICS WM-9): after a restore the same rows are late as
/// without it, and a window that has fired does not fire again. Running totals are not: they are
/// made again, and after a restore the keys of an overlapping window may come in another order.
///
/// Outputs: 0 results, 1 late rows.
template <class K, class V, class A, class Keep = KeepAll>
class WindowStage final : public Consumer<Keyed<K, V>> {
  using State = typename A::State;
  using Table = KeyedTable<K, State>;
  using Guess = typename Table::Guess;
  using Counts = KeyedTable<K, std::int64_t>;
  using Result =
      std::remove_cvref_t<decltype(std::declval<const A&>().result(std::declval<const State&>()))>;

 public:
  using Out = Windowed<K, Result>;

  WindowStage(const StageContext& context, std::string name, A aggregate, Sliding windows,
              Duration lateness = Duration{0})
      : env_(context.env),
        at_(context.at),
        name_(std::move(name)),
        aggregate_(std::move(aggregate)),
        windows_(windows),
        pane_(windows.pane()),
        lateness_(lateness),
        late_(context) {}

  void take(Batch<Keyed<K, V>>& rows) override {
    catch_up();
    if (current_ != nullptr && current_->table.is_large()) {
      take_ahead(rows);
    } else {
      for (const Record<Keyed<K, V>>& row : rows) add(row, hash_key(row.value.key), {});
    }
    outlet_.send(out_);
    late_.send();
  }

  void watermark(EventTime time) override {
    catch_up();
    if (time <= watermark_) return;
    const EventTime before = std::exchange(watermark_, time);
    fire_behind(before);
    clean_up();
    outlet_.send(out_);
    outlet_.watermark(time);
    late_.watermark(time);
  }

  void flush() override {
    catch_up();
    outlet_.flush();
    late_.flush();
  }
  void set_idle(bool is_idle) override {
    outlet_.set_idle(is_idle);
    late_.set_idle(is_idle);
  }
  void link(Way way, Stage& next) override {
    if (way.output == 0) {
      outlet_.add(next);
    } else {
      late_.link(next);
    }
  }

  void save(Snapshot& snapshot) override {
    auto frozen = std::make_unique<FrozenPanes>();
    frozen->watermark = watermark_;
    frozen->late = late_.dropped();
    for (const auto& pane : panes_) frozen->panes.push_back({pane->start, pane->table.freeze()});
    snapshot.acknowledgement.watermarks.push_back({name_, watermark_});
    snapshot.acknowledgement.records_late += late_.dropped();
    snapshot.parts.push_back({name_, "windows", state_shape(), std::move(frozen)});
    if (fired_again_.empty()) return;
    auto counts = std::make_unique<FrozenCounts>();
    for (auto& [end, results] : fired_again_) counts->windows.push_back({end, results.freeze()});
    snapshot.parts.push_back({name_, "fired_again", shape<K>(), std::move(counts)});
  }

  void restore(const Restored& restored) override {
    for (const RestoredSection& section : restored.sections) {
      const bool has_counts = section.part == "fired_again";
      expect_shape(name_, section, has_counts ? shape<K>() : state_shape());
      if (has_counts) continue;
      watermark_ = std::max(watermark_, EventTime{Decoder(section.bytes).number<std::int64_t>()});
    }
    for (const RestoredSection& section : restored.sections) {
      Decoder in(section.bytes);
      if (section.part == "fired_again") {
        restore_counts(in);
      } else {
        restore_panes(in, section.groups);
      }
      in.expect_end();
    }
  }

 private:
  struct Pane {
    EventTime start;
    Table table;
    bool is_in_total = false;
  };
  struct Total {
    State state;
    std::uint32_t panes = 0;  ///< In which the key is.
  };
  /// A restored entry whose subtask had a smaller watermark than another.
  struct Behind {
    EventTime watermark;
    EventTime pane;
    K key;
  };
  struct FrozenPanes final : Frozen {
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
  struct FrozenCounts final : Frozen {
    struct OfWindow {
      EventTime end;
      FrozenBlocks entries;
    };
    std::vector<OfWindow> windows;

    void write(Encoder& out) const override {
      out.number(static_cast<std::uint32_t>(windows.size()));
      for (const OfWindow& window : windows) {
        out.number(window.end.ms);
        Counts::write(window.entries, out);
      }
    }
  };

  static constexpr bool selects = std::is_same_v<Keep, KeepLargest>;
  static std::string state_shape() { return shape<K>() + " to " + shape<State>(); }

  Window ending(EventTime end) const { return {end - windows_.size, end}; }
  EventTime clean_up_time(Window window) const {
    return saturated(last_instant(window), lateness_);
  }

  // Rows.

  /// The same as row by row, for more keys than fit into a cache.
  [[gnu::noinline]] void take_ahead(const Batch<Keyed<K, V>>& rows) {
    std::uint64_t hashes[Batch<Keyed<K, V>>::room()];
    const Record<Keyed<K, V>>* const row = rows.begin();
    for (std::uint32_t i = 0; i < rows.size(); ++i) hashes[i] = hash_key(row[i].value.key);
    LookAhead<Table> ahead(current_->table, {hashes, rows.size()});
    const Pane* asked = current_;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      // A row behind the watermark leaves no pane current: then the one before is asked, in vain.
      if (current_ != nullptr) asked = current_;
      add(row[i], hashes[i], ahead.next(asked->table));
    }
  }

  [[gnu::always_inline]] void add(const Record<Keyed<K, V>>& row, std::uint64_t hash, Guess guess) {
    if (current_ == nullptr || !is_in(row.time, *current_)) [[unlikely]] {
      current_ = find_pane_ahead(row.time);
      if (current_ == nullptr) return add_behind(row, hash);
    }
    aggregate_.add(current_->table.at(row.value.key, hash, guess), row.value.value);
  }
  bool is_in(EventTime time, const Pane& pane) const {
    return static_cast<std::uint64_t>(time.ms) - static_cast<std::uint64_t>(pane.start.ms) <
           static_cast<std::uint64_t>(pane_.count());
  }

  /// The pane of a row none of whose windows has ended, made if it is new; else null.
  [[gnu::noinline]] Pane* find_pane_ahead(EventTime time) {
    if (last_instant(windows_.first_window(time)) <= watermark_) return nullptr;
    return &pane_at(windows_.pane_start(time));
  }
  Pane& pane_at(EventTime start) {
    const auto at =
        std::lower_bound(panes_.begin(), panes_.end(), start,
                         [](const auto& pane, EventTime time) { return pane->start < time; });
    if (at != panes_.end() && (*at)->start == start) return **at;
    return **panes_.insert(at, fresh_pane(start));
  }
  std::unique_ptr<Pane> fresh_pane(EventTime start) {
    if (spare_.empty()) return std::make_unique<Pane>(Pane{start, {}});
    std::unique_ptr<Pane> pane = std::move(spare_.back());
    spare_.pop_back();
    pane->start = start;
    return pane;
  }

  /// A row of which at least one window has ended.
  [[gnu::noinline]] void add_behind(const Record<Keyed<K, V>>& row, std::uint64_t hash) {
    const auto& [key, value] = row.value;
    const Window last = windows_.last_window(row.time);
    if (clean_up_time(last) <= watermark_) return late_.add(row.time, value);  // WL-3.
    // How many results a window had is found out before the row is in it.
    each_fired(row.time, [&](Window window) { count_results(window, key, hash); });
    Pane& pane = pane_at(windows_.pane_start(row.time));
    const std::uint32_t keys_before = pane.table.size();
    aggregate_.add(pane.table.at(key, hash), value);
    if constexpr (Subtractable<A>) {
      if (pane.is_in_total) {
        Total& total = totals_.at(key, hash);
        aggregate_.add(total.state, value);
        total.panes += pane.table.size() - keys_before;
      }
    }
    each_fired(row.time, [&](Window window) {
      let_out(window, key, hash, fired_again_[window.end].at(key, hash)++);
    });
  }

  /// The windows that hold `time`, have fired, and can still change.
  template <class F>
  void each_fired(EventTime time, F&& f) const {
    const Window last = windows_.last_window(time);
    for (Window window = windows_.first_window(time);
         window <= last && last_instant(window) <= watermark_; window = windows_.next(window)) {
      if (clean_up_time(window) > watermark_) f(window);
    }
  }
  void count_results(Window window, const K& key, std::uint64_t hash) {
    std::int64_t& results = fired_again_[window.end].at(key, hash);
    if (results == 0 && holds(window, key, hash)) results = 1;
  }
  bool holds(Window window, const K& key, std::uint64_t hash) const {
    bool is_there = false;
    each_pane(window, [&](const Pane& pane) { is_there |= pane.table.look(key, hash) != nullptr; });
    return is_there;
  }

  // Windows.

  /// Fires, by their ends, the windows that have ended since the watermark was `before`.
  void fire_behind(EventTime before) {
    EventTime fired = before;  // The windows up to this last instant.
    for (auto pane = panes_.begin(); pane != panes_.end();) {
      const EventTime start = (*pane)->start;
      if (last_instant(windows_.last_window(start)) <= fired) {
        ++pane;
        continue;
      }
      Window window = windows_.first_window(start);
      if (last_instant(window) <= fired) {
        window = ending(windows_.first_window(fired + Duration{1}).end);
      }
      if (last_instant(window) > watermark_) break;
      fire(window);
      fired = last_instant(window);
    }
  }

  void fire(Window window) {
    if (windows_.slide == windows_.size) {
      each_pane(window, [&](const Pane& pane) { let_out(window, pane.table, std::identity{}); });
    } else if constexpr (Subtractable<A>) {
      roll(window);
      let_out(window, totals_, [](const Total& total) -> const State& { return total.state; });
    } else {
      merged_.clear();
      each_pane(window, [&](const Pane& pane) {
        pane.table.each([&](const K& key, const State& state) {
          aggregate_.merge(merged_.at(key, hash_key(key)), state);
        });
      });
      let_out(window, merged_, std::identity{});
    }
  }

  template <class F>
  void each_pane(Window window, F&& f) const {
    for (const auto& pane : panes_) {
      if (pane->start >= window.end) break;
      if (pane->start >= window.start) f(*pane);
    }
  }

  /// Makes the running total that of `window`.
  void roll(Window window) {
    for (const auto& pane : panes_) {
      if (pane->start >= window.end) break;
      if (pane->is_in_total && pane->start < window.start) take_out(*pane);
      if (!pane->is_in_total && pane->start >= window.start) take_in(*pane);
    }
  }
  void take_in(Pane& pane) {
    pane.table.each([&](const K& key, const State& state) {
      Total& total = totals_.at(key, hash_key(key));
      aggregate_.merge(total.state, state);
      ++total.panes;
    });
    pane.is_in_total = true;
  }
  void take_out(Pane& pane) {
    pane.table.each([&](const K& key, const State& state) {
      const std::uint64_t hash = hash_key(key);
      Total& total = *totals_.find(key, hash);
      aggregate_.subtract(total.state, state);
      if (--total.panes == 0) totals_.erase(key, hash);
    });
    pane.is_in_total = false;
  }

  /// Lets go of panes and counts that nothing can change any more (WL-2).
  void clean_up() {
    auto kept = panes_.begin();
    for (; kept != panes_.end(); ++kept) {
      Pane& pane = **kept;
      const EventTime until = clean_up_time(windows_.last_window(pane.start));
      if (until > watermark_ || until == EventTime::max()) break;
      if constexpr (Subtractable<A>) {
        if (pane.is_in_total) take_out(pane);
      }
      pane.table.clear();
      spare_.push_back(std::move(*kept));
    }
    panes_.erase(panes_.begin(), kept);
    while (!fired_again_.empty() &&
           clean_up_time(ending(fired_again_.begin()->first)) <= watermark_) {
      fired_again_.erase(fired_again_.begin());
    }
    // What comes into a pane behind the watermark may have to fire windows again.
    if (current_ != nullptr && last_instant(windows_.first_window(current_->start)) <= watermark_) {
      current_ = nullptr;
    }
  }

  // Results.

  template <class States, class StateOf>
  void let_out(Window window, const States& states, StateOf state_of) {
    std::optional<Result> largest;
    if constexpr (selects) {
      states.each([&](const K&, const auto& state) {
        Result result = aggregate_.result(state_of(state));
        if (!largest || *largest < result) largest = std::move(result);
      });
    }
    states.each([&](const K& key, const auto& state) {
      if constexpr (selects) {
        Result result = aggregate_.result(state_of(state));
        if (!(result < *largest)) put(window, key, std::move(result), 0);
      } else {
        put(window, key, aggregate_.result(state_of(state)), 0);
      }
    });
    LandmarkFields fields;
    fields.subtask = at_.index;
    fields.count = states.size();
    env_.landmark(landmarks::window_fired, fields);
  }
  /// One key's result, put together anew.
  void let_out(Window window, const K& key, std::uint64_t hash, std::int64_t pane) {
    State merged{};
    each_pane(window, [&](const Pane& covered) {
      const State* const state = covered.table.look(key, hash);
      if (state != nullptr) aggregate_.merge(merged, *state);
    });
    put(window, key, aggregate_.result(merged), pane);
  }
  template <class R>
  void put(Window window, const K& key, R&& result, std::int64_t pane) {
    out_.add(last_instant(window), Out{window, key, std::forward<R>(result), pane});
    if (out_.full()) outlet_.send(out_);
  }

  // Coming back.

  void restore_panes(Decoder& in, GroupRange groups) {
    const EventTime watermark{in.number<std::int64_t>()};
    // Several subtasks may read this section. One of them goes on with its count.
    const auto late = in.number<std::uint64_t>();
    if (is_mine(static_cast<std::uint32_t>(groups.first))) late_.restore(late);
    const auto panes = in.count(1);
    for (std::uint32_t i = 0; i < panes; ++i) {
      const EventTime start{in.number<std::int64_t>()};
      Pane* pane = nullptr;
      restore_entries<State>(in, [&](const K& key, std::uint64_t hash, State state) {
        if (pane == nullptr) pane = &pane_at(start);
        pane->table.at(key, hash) = std::move(state);
        if (watermark < watermark_) behind_.push_back({watermark, start, key});
      });
    }
  }
  void restore_counts(Decoder& in) {
    const auto windows = in.count(1);
    for (std::uint32_t i = 0; i < windows; ++i) {
      const EventTime end{in.number<std::int64_t>()};
      restore_entries<std::int64_t>(in, [&](const K& key, std::uint64_t hash, std::int64_t count) {
        fired_again_[end].at(key, hash) = count;
      });
    }
  }
  /// Subtasks whose inputs fell idle may have had different watermarks (WM-4). What had ended for
  /// the first of them, and not yet for a key's own, comes out before anything else.
  void catch_up() {
    if (behind_.empty()) [[likely]] {
      return;
    }
    for (const Behind& one : std::exchange(behind_, {})) {
      const std::uint64_t hash = hash_key(one.key);
      const Window last = windows_.last_window(one.pane);
      for (Window window = windows_.first_window(one.pane); window <= last;
           window = windows_.next(window)) {
        if (last_instant(window) <= one.watermark || last_instant(window) > watermark_) continue;
        if (!holds({window.start, one.pane}, one.key, hash)) let_out(window, one.key, hash, 0);
      }
    }
    outlet_.send(out_);
  }
  template <class S, class F>
  void restore_entries(Decoder& in, F&& f) {
    const auto entries = in.count(1);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const K key = decoded<K>(in);
      S state = decoded<S>(in);
      const std::uint64_t hash = hash_key(key);
      if (is_mine(group_of(hash))) f(key, hash, std::move(state));
    }
  }
  bool is_mine(std::uint32_t group) const { return owner_of(group, at_.of) == at_.index; }

  Env env_;
  Subtask at_;
  std::string name_;
  A aggregate_;
  Sliding windows_;
  Duration pane_;
  Duration lateness_;

  EventTime watermark_ = EventTime::min();
  std::vector<std::unique_ptr<Pane>> panes_;  ///< By start.
  std::vector<std::unique_ptr<Pane>> spare_;
  Pane* current_ = nullptr;  ///< Where the last row went, if no window of it has ended.
  /// Results per key of windows, by their end, that a late row made fire again.
  std::map<EventTime, Counts> fired_again_;
  KeyedTable<K, Total> totals_;  ///< Of the window that fired last, from the panes that say so.
  Table merged_;                 ///< For folds that cannot be taken apart.
  std::vector<Behind> behind_;

  Batch<Out> out_;
  Outlet<Out> outlet_;
  LateRows<V> late_;
};

}  // namespace millrace
