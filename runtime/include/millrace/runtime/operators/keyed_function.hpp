#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "millrace/env/error.hpp"
#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/flow/watched.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/operators/function_failure.hpp"
#include "millrace/runtime/process.hpp"
#include "millrace/runtime/state/look_ahead.hpp"
#include "millrace/runtime/state/table.hpp"

namespace millrace {

/// A user's function with the state and alarms of its keys: what operators of one input, of two,
/// and with a broadcast have in common.
///
/// At a watermark the alarms up to it ring, then keys are forgotten whose time has come, then the
/// watermark goes on: what an alarm lets out is not late. The watermark is part of the state
/// (SEMANTICS WM-9), so after a restore the same rows are late as without it.
template <class K, class P, class Keep>
class KeyedFunction {
  using State = typename P::State;
  using Context = KeyContext<K, State>;

 public:
  using Out = typename P::Output;

  KeyedFunction(const StageContext& context, std::string name, P process, Keep keep)
      : env_(context.env),
        at_(context.at),
        name_(std::move(name)),
        process_(std::move(process)),
        keep_(keep),
        is_watched_(env_.user_code.is_watched()) {
    here_.watermark_ = EventTime::min();
    here_.alarms_ = &alarms_;
    here_.wall_alarms_ = &wall_alarms_;
    here_.env_ = &env_;
  }
  KeyedFunction(const KeyedFunction&) = delete;
  KeyedFunction& operator=(const KeyedFunction&) = delete;

  /// Calls `handle(process, row, context, emit)` for each row of input `port`, with the state of
  /// its key.
  template <class T, class Handle>
  void take(int port, Batch<Keyed<K, T>>& rows, Handle&& handle) {
    const std::uint64_t late_before = here_.late_;
    const Record<Keyed<K, T>>* const row = rows.begin();
    const std::uint32_t count = rows.size();
    std::array<std::uint64_t, Batch<Keyed<K, T>>::room()> hashes;
    for (std::uint32_t i = 0; i < count; ++i) hashes[i] = hash_key(row[i].value.key);
    const bool is_large = table_.is_large();
    LookAhead<Table> ahead(table_, {hashes.data(), is_large ? count : 0});
    for (std::uint32_t i = 0; i < count; ++i) {
      const K& key = row[i].value.key;
      const T& value = row[i].value.value;
      Slot& slot =
          is_large ? table_.at(key, hashes[i], ahead.next(table_)) : table_.at(key, hashes[i]);
      touch(slot, row[i].time, key);
      run(key, hashes[i], slot, row[i].time, std::tie(port, value),
          [&] { handle(std::as_const(process_), value, here_, emit_); });
    }
    send();
    if (here_.late_ != late_before) [[unlikely]] {
      env_.landmark(landmarks::rows_late, about(here_.late_ - late_before));
    }
  }

  void watermark(EventTime time) {
    if (time <= here_.watermark_) return;
    here_.watermark_ = time;
    if constexpr (rings) {
      const auto ring = [this](const K& key, std::uint64_t hash, Slot& slot, EventTime when) {
        if (has_expired(slot, when)) return table_.erase(key, hash);
        touch(slot, when, key);
        run(key, hash, slot, when, Nothing{}, [this] { process_.on_alarm(here_, emit_); });
      };
      alarms_.ring(time, table_, &Slot::alarm, ring);
    }
    if constexpr (expires) {
      const auto forget = [this](const K& key, std::uint64_t hash, Slot&, EventTime) {
        table_.erase(key, hash);
      };
      touches_.ring(time - keep_.span, table_, &Slot::touched, forget);
    }
    send();
    outlet_.watermark(time);
  }

  EventTime next_alarm() const {
    return rings_at_wall ? wall_alarms_.index().earliest() : EventTime::max();
  }
  void ring([[maybe_unused]] EventTime now) {
    if constexpr (rings_at_wall) {
      // Rows at the first instant that is not late; there is none behind the end of the input.
      const EventTime time{here_.watermark_.ms + (here_.watermark_ < EventTime::max() ? 1 : 0)};
      wall_alarms_.ring(now, table_, &Slot::wall_alarm,
                        [&](const K& key, std::uint64_t hash, Slot& slot, EventTime) {
                          here_.asked_for_wall_ = true;
                          run(key, hash, slot, time, Nothing{},
                              [this] { process_.on_wall_alarm(here_, emit_); });
                        });
      send();
    }
  }

  void flush() { outlet_.flush(); }
  void set_idle(bool is_idle) { outlet_.set_idle(is_idle); }
  void link(Stage& next) { outlet_.add(next); }

  void save(Snapshot& snapshot) {
    auto frozen = std::make_unique<FrozenKeys>();
    frozen->watermark = here_.watermark_;
    frozen->late = here_.late_;
    frozen->entries = table_.freeze();
    snapshot.acknowledgement.watermarks.push_back({name_, here_.watermark_});
    snapshot.acknowledgement.records_late += here_.late_;
    snapshot.parts.push_back({name_, part_name, state_shape(), std::move(frozen)});
  }

  /// Takes up the parts of this name, and leaves others alone.
  void restore(const Restored& restored) {
    for (const RestoredSection& section : restored.sections) {
      if (section.part != part_name) continue;
      expect_shape(name_, section, state_shape());
      Decoder in(section.bytes);
      // One for all subtasks, but behind inputs that fell idle (WM-4).
      here_.watermark_ = std::max(here_.watermark_, EventTime{in.number<std::int64_t>()});
      // Several subtasks may read this section. One of them goes on with its count.
      const auto late = in.number<std::uint64_t>();
      const auto first_group = static_cast<std::uint32_t>(section.groups.first);
      if (owner_of(first_group, at_.of) == at_.index) here_.late_ += late;
      const auto entries = in.count(1);
      for (std::uint32_t i = 0; i < entries; ++i) restore_entry(in);
      in.expect_end();
    }
  }

 private:
  static constexpr bool rings =
      requires(const P& p, Context& here, Emit<Out>& out) { p.on_alarm(here, out); };
  static constexpr bool rings_at_wall =
      requires(const P& p, Context& here, Emit<Out>& out) { p.on_wall_alarm(here, out); };
  static constexpr bool expires = std::is_same_v<Keep, KeepFor>;
  static constexpr const char* part_name = "keys";

  using Slot = KeySlot<State, rings, rings_at_wall, expires>;
  using Table = KeyedTable<K, Slot>;

  struct FrozenKeys final : Frozen {
    EventTime watermark;
    std::uint64_t late = 0;
    FrozenBlocks entries;

    void write(Encoder& out) const override {
      out.number(watermark.ms);
      out.number(late);
      Table::write(entries, out);
    }
  };

  static std::string state_shape() { return shape<K>() + " to " + shape<Slot>(); }

  /// Something happened to the key at `time`.
  void touch([[maybe_unused]] Slot& slot, [[maybe_unused]] EventTime time,
             [[maybe_unused]] const K& key) {
    if constexpr (expires) {
      if (!slot.touched.is_set() || slot.touched.at < time) touches_.set(slot.touched, time, key);
    }
  }
  /// Whether the key would have been forgotten by `time`, had the watermark come that slowly.
  bool has_expired([[maybe_unused]] const Slot& slot, [[maybe_unused]] EventTime time) const {
    if constexpr (expires) {
      return slot.touched.at < time - keep_.span;
    } else {
      return false;
    }
  }

  /// `given` is what the function gets besides key, state and time.
  template <class Given, class F>
  void run(const K& key, std::uint64_t hash, Slot& slot, EventTime time, const Given& given,
           F&& f) {
    here_.key_ = &key;
    here_.state_ = &slot.state;
    if constexpr (rings) here_.alarm_ = &slot.alarm;
    if constexpr (rings_at_wall) here_.wall_alarm_ = &slot.wall_alarm;
    here_.time_ = time;
    here_.effects_ = 0;
    emit_.time_ = time;
    FunctionRun watched;
    if (is_watched_) [[unlikely]] {
      send();  // What is let out now is of this call.
      watched.given = given_to(key, slot, given);
    }
    try {
      f();
    } catch (const std::exception&) {
      rethrow_of_function(name_, describe_key_of(key), time);
    }
    if (is_watched_) [[unlikely]] {
      report(watched, slot);
    }
    if (here_.is_forgotten_) [[unlikely]] {
      here_.is_forgotten_ = false;
      table_.erase(key, hash);
    }
    if (!emit_.full_.empty()) [[unlikely]] {
      send_full();
    }
  }
  template <class Given>
  [[gnu::noinline]] std::uint64_t given_to(const K& key, const Slot& slot, const Given& given) {
    ValueHash hash;
    hash.add(key).add(slot).add(here_.time_).add(here_.watermark_);
    if constexpr (requires { process_.known(); }) hash.add(process_.known());
    if constexpr (std::is_same_v<Given, Nothing>) {
      hash.add(given);
    } else {
      hash.add(std::get<0>(given)).add(std::get<1>(given));
    }
    return hash.finish();
  }
  [[gnu::noinline]] void report(FunctionRun run, const Slot& slot) {
    ValueHash result;
    const auto add = [&](const Batch<Out>& rows) {
      for (const Record<Out>& row : rows) result.add(row.time).add(row.value);
    };
    for (const Batch<Out>& rows : emit_.full_) add(rows);
    add(emit_.rows_);
    run.result = result.add(slot).add(here_.is_forgotten_).finish();
    // The wall clock says something else every time.
    if (!std::exchange(here_.asked_for_wall_, false)) env_.user_code.ran(env_.role, run);
  }
  [[gnu::noinline]] void send_full() {
    for (Batch<Out>& rows : emit_.full_) outlet_.send(rows);
    emit_.full_.clear();
  }
  void send() { outlet_.send(emit_.rows_); }

  void restore_entry(Decoder& in) {
    const K key = decoded<K>(in);
    Slot slot = decoded<Slot>(in);
    const std::uint64_t hash = hash_key(key);
    if (owner_of(group_of(hash), at_.of) != at_.index) return;
    Slot& kept = table_.at(key, hash) = std::move(slot);
    if constexpr (rings) alarms_.restore(kept.alarm, key);
    if constexpr (rings_at_wall) wall_alarms_.restore(kept.wall_alarm, key);
    if constexpr (expires) {
      // Written by a job that kept its keys for ever: its life begins now.
      const bool is_new = !kept.touched.is_set() && here_.watermark_ > EventTime::min();
      if (is_new) kept.touched.at = here_.watermark_;
      touches_.restore(kept.touched, key);
    }
  }

  LandmarkFields about(std::uint64_t count) const {
    LandmarkFields fields;
    fields.subtask = at_.index;
    fields.count = count;
    return fields;
  }

  Env env_;
  Subtask at_;
  std::string name_;
  P process_;
  [[no_unique_address]] Keep keep_;
  bool is_watched_;
  Table table_;
  KeyAlarms<K> alarms_;
  KeyAlarms<K, WallAlarmIndex<K>> wall_alarms_;
  KeyAlarms<K> touches_;
  Context here_;
  Emit<Out> emit_;
  Outlet<Out> outlet_;
};

}  // namespace millrace
