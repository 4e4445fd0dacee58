#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/state/alarms.hpp"
#include "millrace/runtime/state/key_hash.hpp"
#include "millrace/runtime/state/key_order.hpp"
#include "millrace/runtime/state/key_slot.hpp"
#include "millrace/runtime/state/look_ahead.hpp"

namespace millrace {

/// Which keys to look at when the wall clock gets that far. As AlarmIndex, for fewer alarms, and it
/// knows to the millisecond when the first is due.
template <class K>
class WallAlarmIndex {
 public:
  using Due = typename AlarmIndex<K>::Due;

  void add(std::int64_t when, const K& key) { keys_.emplace(when, key); }
  bool any_before(std::int64_t time) const {
    return !keys_.empty() && keys_.begin()->first <= time;
  }
  void take(std::int64_t time, std::vector<Due>& due) {
    due.clear();
    const auto end = keys_.upper_bound(time);
    for (auto at = keys_.begin(); at != end; ++at) due.push_back({at->first, at->second});
    keys_.erase(keys_.begin(), end);
  }
  /// The largest time: there is none.
  EventTime earliest() const {
    return keys_.empty() ? EventTime::max() : EventTime{keys_.begin()->first};
  }

 private:
  std::multimap<std::int64_t, K> keys_;
};

/// The alarms of one kind, one for each key of a table. Moving one later is a store: its entry in
/// the index stays where it was, and is put where it belongs when its time has come.
template <class K, class Index = AlarmIndex<K>>
class KeyAlarms {
 public:
  void set(Alarm& alarm, EventTime when, const K& key) {
    alarm.at = when;
    if (when >= alarm.indexed) return;
    alarm.indexed = when;
    if (when <= ringing_until_) {
      push({when, key});
    } else {
      index_.add(when.ms, key);
    }
  }
  /// Takes up an alarm that was restored with its entry.
  void restore(Alarm& alarm, const K& key) {
    alarm.indexed = EventTime::max();
    if (alarm.is_set()) set(alarm, alarm.at, key);
  }

  /// Calls `ring(key, hash, slot, when)` for each alarm up to `now`, also for those that are set
  /// meanwhile: by time, and at one time by key (`key_less`). So the order is the same in however
  /// many steps `now` has come.
  template <class Table, class Slot, class Ring>
  void ring(EventTime now, Table& table, Alarm Slot::*of, Ring&& ring) {
    if (!index_.any_before(now.ms)) return;
    index_.take(now.ms, due_);
    sort_equal_times_by_key();
    ringing_until_ = now;
    hashes_.clear();
    for (const auto& due : due_) hashes_.push_back(hash_key(due.key));
    const bool is_large = table.is_large();
    LookAhead<Table> ahead(table, {hashes_.data(), is_large ? hashes_.size() : 0});
    std::size_t next = 0;
    while (next < due_.size() || !ringing_.empty()) {
      // What was set meanwhile rings where its time and key belong.
      if (!ringing_.empty() && (next == due_.size() || is_first_new(due_[next]))) {
        const Ringing one = pop();
        ring_one(one.at, one.key, hash_key(one.key), {}, table, of, ring);
      } else {
        const auto guess = is_large ? ahead.next(table) : typename Table::Guess{};
        const auto& one = due_[next];
        ring_one({one.when}, one.key, hashes_[next++], guess, table, of, ring);
      }
    }
    ringing_until_ = EventTime::min();
  }

  const Index& index() const { return index_; }

 private:
  struct Ringing {
    EventTime at;
    K key;
  };
  static bool is_before(EventTime at, const K& key, EventTime other_at, const K& other_key) {
    return at != other_at ? at < other_at : key_less(key, other_key);
  }
  static bool is_behind(const Ringing& a, const Ringing& b) {
    return is_before(b.at, b.key, a.at, a.key);
  }
  bool is_first_new(const typename Index::Due& due) const {
    return is_before(ringing_.front().at, ringing_.front().key, {due.when}, due.key);
  }
  void sort_equal_times_by_key() {
    for (auto first = due_.begin(); first != due_.end();) {
      const auto end =
          std::find_if(first, due_.end(), [&](const auto& due) { return due.when != first->when; });
      std::sort(first, end, [](const auto& a, const auto& b) { return key_less(a.key, b.key); });
      first = end;
    }
  }
  /// An entry of the index whose time has come: the alarm rings, has moved, or is gone.
  template <class Table, class Slot, class Ring>
  void ring_one(EventTime when, const K& key, std::uint64_t hash, typename Table::Guess guess,
                Table& table, Alarm Slot::*of, Ring& ring) {
    Slot* const slot = table.find(key, hash, guess);
    if (slot == nullptr || (slot->*of).indexed != when) return;
    if ((slot->*of).at == when) {
      slot->*of = {};
      ring(key, hash, *slot, when);
    } else {
      restore(slot->*of, key);
    }
  }
  void push(Ringing ringing) {
    ringing_.push_back(std::move(ringing));
    std::push_heap(ringing_.begin(), ringing_.end(), is_behind);
  }
  Ringing pop() {
    std::pop_heap(ringing_.begin(), ringing_.end(), is_behind);
    Ringing next = std::move(ringing_.back());
    ringing_.pop_back();
    return next;
  }

  Index index_;
  std::vector<typename AlarmIndex<K>::Due> due_;
  std::vector<std::uint64_t> hashes_;           ///< Of their keys.
  std::vector<Ringing> ringing_;                ///< A heap.
  EventTime ringing_until_ = EventTime::min();  ///< While alarms ring.
};

}  // namespace millrace
