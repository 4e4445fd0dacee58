#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/operators/late_rows.hpp"
#include "millrace/runtime/operators/open_window.hpp"
#include "millrace/runtime/state/alarms.hpp"
#include "millrace/runtime/state/look_ahead.hpp"
#include "millrace/runtime/state/table.hpp"
#include "millrace/runtime/trigger.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// Folds rows per key and window, key by key: sessions, which merge, the global window, and windows
/// of any kind whose trigger is not the usual one or that purge.
///
/// A row is folded into every window that holds it, so that of `sliding(10s, 1s)` costs ten times
/// that of `tumbling(10s)`; without a trigger of their own WindowStage does both at one price. The
/// windows of a key lie in its entry of the table, which is good for a few.
///
/// A key looks at the clock of event time through one alarm, at or before the first moment that
/// concerns any of its windows. Later rows of a session move that moment and leave the alarm: when
/// it rings in vain, it is set again.
///
/// In the order of SEMANTICS 1.7: a row first merges the sessions that it touches, and is late only
/// if it stays alone (WL-8); when a window has ended and is to be cleaned up at the same watermark,
/// it fires first (WL-5); purging leaves window, trigger and alarms (WL-6).
///
/// Outputs: 0 results, 1 late rows.
template <class K, class V, class A, class Windows, class Tr, bool purges>
class TriggerWindowStage final : public Consumer<Keyed<K, V>> {
  using State = typename A::State;
  using Open = OpenWindow<State, Tr>;
  using OfKey = KeyWindows<State, Tr>;
  using Table = KeyedTable<K, OfKey>;
  using Guess = typename Table::Guess;
  using Context = TriggerContext<typename Tr::State>;
  using Result =
      std::remove_cvref_t<decltype(std::declval<const A&>().result(std::declval<const State&>()))>;
  static constexpr bool merges = std::is_same_v<Windows, Sessions>;
  static_assert(!merges || MergesStates<Tr>,
                "sessions merge, and so must the states of their trigger: give it "
                "merge(State& into, const State& other)");

 public:
  using Out = Windowed<K, Result>;

  TriggerWindowStage(const StageContext& context, std::string name, A aggregate, Windows windows,
                     Tr trigger, Duration lateness = Duration{0})
      : env_(context.env),
        at_(context.at),
        name_(std::move(name)),
        aggregate_(std::move(aggregate)),
        windows_(windows),
        trigger_(std::move(trigger)),
        lateness_(lateness),
        wall_(env_.clock),
        late_(context) {}

  void take(Batch<Keyed<K, V>>& rows) override {
    wall_.forget();
    if (table_.is_large()) {
      take_ahead(rows);
    } else {
      for (const Record<Keyed<K, V>>& row : rows) add(row, hash_key(row.value.key), {});
    }
    outlet_.send(out_);
    late_.send();
  }

  void watermark(EventTime time) override {
    if (time <= watermark_) return;
    watermark_ = time;
    wall_.forget();
    alarms_.take(time.ms, due_);
    std::uint64_t ended = 0;
    hashes_.clear();
    for (const auto& due : due_) hashes_.push_back(hash_key(due.key));
    const bool is_large = table_.is_large();
    LookAhead<Table> ahead(table_, {hashes_.data(), is_large ? hashes_.size() : 0});
    for (std::size_t i = 0; i < due_.size(); ++i) {
      const auto& [when, key] = due_[i];
      OfKey* const found = table_.find(key, hashes_[i], is_large ? ahead.next(table_) : Guess{});
      if (found == nullptr || found->indexed.at.ms != when) continue;
      found->indexed = {};
      ended += settle(key, hashes_[i], *found);
    }
    if (ended != 0) {
      LandmarkFields fields;
      fields.subtask = at_.index;
      fields.count = ended;
      env_.landmark(landmarks::window_fired, fields);
    }
    outlet_.send(out_);
    outlet_.watermark(time);
    late_.watermark(time);
  }

  EventTime next_alarm() const override { return next_wall_alarm_; }
  void ring(EventTime now) override {
    if constexpr (HasWallAlarm<Tr>) {
      wall_.set(now);
      wall_alarms_.take(now.ms, due_);
      next_wall_alarm_ = {wall_alarms_.earliest()};
      for (const auto& [when, key] : due_) {
        OfKey* const found = table_.find(key, hash_key(key));
        if (found == nullptr || found->wall_indexed.at.ms != when) continue;
        found->wall_indexed = {};
        for (std::uint32_t i = 0; i < found->open.size(); ++i) {
          ring_wall(key, found->open[i], now);
          index(key, *found, found->open[i]);
        }
      }
      outlet_.send(out_);
    }
  }

  void flush() override {
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
    auto frozen = std::make_unique<FrozenKeys>();
    frozen->watermark = watermark_;
    frozen->late = late_.dropped();
    frozen->keys = table_.freeze();
    snapshot.acknowledgement.watermarks.push_back({name_, watermark_});
    snapshot.acknowledgement.records_late += late_.dropped();
    snapshot.parts.push_back({name_, "windows_by_key", state_shape(), std::move(frozen)});
  }

  void restore(const Restored& restored) override {
    for (const RestoredSection& section : restored.sections) {
      expect_shape(name_, section, state_shape());
      Decoder in(section.bytes);
      // Behind inputs that fell idle they may differ (WM-4). A window that has ended by the largest
      // and was not told, is told at the next.
      watermark_ = std::max(watermark_, EventTime{in.number<std::int64_t>()});
      // Several subtasks may read this section. One of them goes on with its count.
      const auto late = in.number<std::uint64_t>();
      if (is_mine(static_cast<std::uint32_t>(section.groups.first))) late_.restore(late);
      const auto keys = in.count(1);
      for (std::uint32_t i = 0; i < keys; ++i) restore_key(in);
      in.expect_end();
    }
  }

 private:
  struct FrozenKeys final : Frozen {
    EventTime watermark;
    std::uint64_t late = 0;
    FrozenBlocks keys;

    void write(Encoder& out) const override {
      out.number(watermark.ms);
      out.number(late);
      Table::write(keys, out);
    }
  };

  static std::string state_shape() { return shape<K>() + " to " + shape<OfKey>(); }

  EventTime clean_up_time(Window window) const {
    return saturated(last_instant(window), lateness_);
  }
  bool is_late(Window window) const { return clean_up_time(window) <= watermark_; }

  // Rows.

  /// The same as row by row, for more keys than fit into a cache.
  [[gnu::noinline]] void take_ahead(const Batch<Keyed<K, V>>& rows) {
    std::uint64_t hashes[Batch<Keyed<K, V>>::room()];
    const Record<Keyed<K, V>>* const row = rows.begin();
    for (std::uint32_t i = 0; i < rows.size(); ++i) hashes[i] = hash_key(row[i].value.key);
    LookAhead<Table> ahead(table_, {hashes, rows.size()});
    for (std::uint32_t i = 0; i < rows.size(); ++i) add(row[i], hashes[i], ahead.next(table_));
  }

  [[gnu::always_inline]] void add(const Record<Keyed<K, V>>& row, std::uint64_t hash, Guess guess) {
    if constexpr (merges) {
      add_to_session(row, hash, guess);
    } else {
      add_to_windows(row, hash, guess);
    }
  }

  void add_to_windows(const Record<Keyed<K, V>>& row, std::uint64_t hash, Guess guess) {
    const Window last = windows_.last_window(row.time);
    if (is_late(last)) return late_.add(row.time, row.value.value);
    OfKey& of_key = table_.at(row.value.key, hash, guess);
    for (Window window = windows_.first_window(row.time);; window = windows_.next(window)) {
      if (!is_late(window)) add_to(window_of(of_key.open, window), of_key, row);
      if (window == last) break;
    }
  }
  Open& window_of(Few<Open>& open, Window window) const {
    std::uint32_t at = open.size();
    while (at > 0 && open[at - 1].window.start > window.start) --at;
    if (at > 0 && open[at - 1].window == window) return open[at - 1];
    return open.insert(at, fresh(window));
  }

  [[gnu::always_inline]] void add_to_session(const Record<Keyed<K, V>>& row, std::uint64_t hash,
                                             Guess guess) {
    const Window window{row.time, last_of(row) + windows_.gap};
    OfKey* of_key = table_.find(row.value.key, hash, guess);
    Open* open = nullptr;
    if (of_key != nullptr && of_key->open.size() == 1 && touch(of_key->open[0].window, window))
        [[likely]] {
      open = &of_key->open[0];
      grow(*open, window);
    } else {
      open = find_session(row, hash, of_key, window);
      if (open == nullptr) return late_.add(row.time, row.value.value);
    }
    add_to(*open, *of_key, row);
  }
  /// The last of the rows that travelled as one, or the only one.
  static EventTime last_of(const Record<Keyed<K, V>>& row) {
    if constexpr (std::is_same_v<V, SessionPart<State>>) {
      return row.value.value.last;
    } else {
      return row.time;
    }
  }
  static bool touch(Window a, Window b) { return a.start <= b.end && b.start <= a.end; }

  /// The session that a row belongs to, grown and put together as it makes it, and the entry of its
  /// key; null: it is late.
  [[gnu::noinline]] Open* find_session(const Record<Keyed<K, V>>& row, std::uint64_t hash,
                                       OfKey*& of_key, Window window) {
    std::uint32_t at = 0;
    if (of_key != nullptr) {
      while (at < of_key->open.size() && of_key->open[at].window.end < window.start) ++at;
    }
    if (of_key == nullptr || at == of_key->open.size() || !touch(of_key->open[at].window, window)) {
      if (is_late(window)) return nullptr;
      if (of_key == nullptr) of_key = &table_.at(row.value.key, hash);
      return &of_key->open.insert(at, fresh(window));
    }
    Few<Open>& open = of_key->open;
    while (at + 1 < open.size() && touch(open[at + 1].window, window)) {
      window.end = std::max(window.end, open[at + 1].window.end);
      put_together(open[at], open[at + 1]);
      open.erase(at + 1);
    }
    grow(open[at], window);
    return &open[at];
  }
  [[gnu::always_inline]] void grow(Open& open, Window window) const {
    const Window grown{std::min(open.window.start, window.start),
                       std::max(open.window.end, window.end)};
    // Without a branch: whether a row makes a session longer is hard to foresee.
    const bool is_same = grown == open.window;
    open.window = grown;
    open.results = is_same ? open.results : 0;
    // If it has ended already, the row fires it, and its end does not once more (WL-10).
    open.has_ended = is_same ? open.has_ended : last_instant(grown) <= watermark_;
  }
  void put_together(Open& into, Open& other) const {
    if (other.has_rows) aggregate_.merge(into.state, other.state);
    into.has_rows |= other.has_rows;
    if constexpr (!std::is_empty_v<TriggerMemory<Tr>>) {
      if constexpr (!std::is_empty_v<typename Tr::State>) {
        trigger_.merge(into.trigger.state, std::as_const(other.trigger.state));
      }
      into.trigger.alarm = std::min(into.trigger.alarm, other.trigger.alarm);
      into.trigger.wall_alarm = std::min(into.trigger.wall_alarm, other.trigger.wall_alarm);
    }
  }

  Open fresh(Window window) const {
    Open open;
    open.window = window;
    open.has_ended = last_instant(window) <= watermark_;
    return open;
  }

  [[gnu::always_inline]] void add_to(Open& open, OfKey& of_key, const Record<Keyed<K, V>>& row) {
    aggregate_.add(open.state, row.value.value);
    open.has_rows = true;
    const Firing firing = ask(open, row.time, [&](Context& here) {
      if constexpr (SeesRows<Tr, V>) {
        return trigger_.on_row(row.value.value, here);
      } else {
        return trigger_.on_row(here);
      }
    });
    act(firing, row.value.key, open);
    index(row.value.key, of_key, open);
  }

  // Triggers.

  template <class F>
  [[gnu::always_inline]] Firing ask(Open& open, EventTime time, F&& f) {
    if constexpr (std::is_empty_v<TriggerMemory<Tr>>) {
      TriggerMemoryless none;
      Context here(none.state, open.window, time, watermark_, none.alarm, none.wall_alarm, wall_);
      return f(here);
    } else {
      TriggerMemory<Tr>& memory = open.trigger;
      Context here(memory.state, open.window, time, watermark_, memory.alarm, memory.wall_alarm,
                   wall_);
      return f(here);
    }
  }
  struct TriggerMemoryless {
    typename Tr::State state{};
    EventTime alarm;
    EventTime wall_alarm;
  };

  [[gnu::always_inline]] void act(Firing firing, const K& key, Open& open) {
    if (firing == Firing::go_on) [[likely]] {
      return;
    }
    if (firing != Firing::purge && open.has_rows) {
      out_.add(last_instant(open.window),
               Out{open.window, key, aggregate_.result(open.state), open.results++});
      if (out_.full()) outlet_.send(out_);
    }
    if (purges || firing != Firing::fire) {
      open.state = State{};
      open.has_rows = false;
    }
  }

  // Time.

  EventTime next_moment(const Open& open) const {
    const EventTime moment =
        open.has_ended ? clean_up_time(open.window) : last_instant(open.window);
    if constexpr (HasAlarm<Tr>) return std::min(moment, open.trigger.alarm);
    return moment;
  }
  /// Sees to it that the key is looked at when the window's next moment has come.
  [[gnu::always_inline]] void index(const K& key, OfKey& of_key, const Open& open) {
    const EventTime moment = next_moment(open);
    if (moment < of_key.indexed.at) {
      of_key.indexed.at = moment;
      alarms_.add(moment.ms, key);
    }
    if constexpr (HasWallAlarm<Tr>) {
      const EventTime wall_alarm = open.trigger.wall_alarm;
      if (wall_alarm < of_key.wall_indexed.at) {
        of_key.wall_indexed.at = wall_alarm;
        wall_alarms_.add(wall_alarm.ms, key);
        next_wall_alarm_ = std::min(next_wall_alarm_, wall_alarm);
      }
    }
  }

  /// Does for a key's windows all that the watermark says, and returns how many had ended.
  std::uint64_t settle(const K& key, std::uint64_t hash, OfKey& of_key) {
    std::uint64_t ended = 0;
    for (std::uint32_t i = 0; i < of_key.open.size();) {
      Open& open = of_key.open[i];
      ended += settle(key, open);
      const EventTime until = clean_up_time(open.window);
      if (until <= watermark_ && until != EventTime::max()) {
        of_key.open.erase(i);
      } else {
        index(key, of_key, open);
        ++i;
      }
    }
    if (of_key.open.empty()) table_.erase(key, hash);
    return ended;
  }
  /// A window's moments up to the watermark, in their order.
  std::uint64_t settle(const K& key, Open& open) {
    std::uint64_t ended = 0;
    const EventTime last = last_instant(open.window);
    for (EventTime now = EventTime::min();;) {
      EventTime alarm = EventTime::max();
      if constexpr (HasAlarm<Tr>) alarm = open.trigger.alarm;
      // An alarm that is set for a moment that has passed waits for the next watermark.
      const bool rings = now < alarm && alarm <= std::min(watermark_, clean_up_time(open.window));
      if (!open.has_ended && last <= watermark_ && (!rings || last <= alarm)) {
        now = last;
        open.has_ended = true;
        ended += open.has_rows ? 1 : 0;
        if constexpr (HasAlarm<Tr>) {
          if (alarm == last) open.trigger.alarm = EventTime::max();
        }
        if constexpr (HasOnTime<Tr>) {
          act(ask(open, now, [&](Context& here) { return trigger_.on_time(here); }), key, open);
        }
      } else if (rings) {
        now = alarm;
        if constexpr (HasAlarm<Tr>) {
          open.trigger.alarm = EventTime::max();
          act(ask(open, now, [&](Context& here) { return trigger_.on_alarm(here); }), key, open);
        }
      } else {
        return ended;
      }
    }
  }

  void ring_wall(const K& key, Open& open, EventTime now)
    requires HasWallAlarm<Tr>
  {
    if (open.trigger.wall_alarm > now) return;
    open.trigger.wall_alarm = EventTime::max();
    act(ask(open, now, [&](Context& here) { return trigger_.on_wall_alarm(here); }), key, open);
  }

  // Coming back.

  void restore_key(Decoder& in) {
    const K key = decoded<K>(in);
    OfKey of_key = decoded<OfKey>(in);
    const std::uint64_t hash = hash_key(key);
    if (!is_mine(group_of(hash))) return;
    for (std::uint32_t i = 0; i < of_key.open.size(); ++i) index(key, of_key, of_key.open[i]);
    table_.at(key, hash) = std::move(of_key);
  }
  bool is_mine(std::uint32_t group) const { return owner_of(group, at_.of) == at_.index; }

  Env env_;
  Subtask at_;
  std::string name_;
  A aggregate_;
  Windows windows_;
  Tr trigger_;
  Duration lateness_;

  EventTime watermark_ = EventTime::min();
  Table table_;
  AlarmIndex<K> alarms_;       ///< Derived, as the next.
  AlarmIndex<K> wall_alarms_;  ///< By the node's wall clock.
  EventTime next_wall_alarm_ = EventTime::max();
  std::vector<typename AlarmIndex<K>::Due> due_;
  std::vector<std::uint64_t> hashes_;  ///< Of their keys.
  WallReading wall_;

  Batch<Out> out_;
  Outlet<Out> outlet_;
  LateRows<V> late_;
};

}  // namespace millrace
