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
      push({when, hash_key(key), key});
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
    ringing_until_ = now;
    const bool is_large = table.is_large();
    for (std::size_t i = 0; i < due_.size(); ++i) {
      if (is_large && i + 24 < due_.size()) table.prefetch(hash_key(due_[i + 24].key));
      if (is_large && i + 12 < due_.size()) table.prefetch_entry(hash_key(due_[i + 12].key));
      const auto& due = due_[i];
      Slot* const slot = table.find(due.key, hash_key(due.key));
      if (slot == nullptr || (slot->*of).indexed.ms != due.when) continue;  // It has moved away.
      restore(slot->*of, due.key);
    }
    while (!ringing_.empty()) {
      const Ringing next = pop();
      Slot* const slot = table.find(next.key, next.hash);
      if (slot == nullptr || (slot->*of).indexed != next.at) continue;
      if ((slot->*of).at == next.at) {
        slot->*of = {};
        ring(next.key, next.hash, *slot, next.at);
      } else {
        restore(slot->*of, next.key);
      }
    }
    ringing_until_ = EventTime::min();
  }

  const Index& index() const { return index_; }

 private:
  struct Ringing {
    EventTime at;
    std::uint64_t hash;
    K key;
  };
  static bool is_behind(const Ringing& a, const Ringing& b) {
    return a.at != b.at ? a.at > b.at : key_less(b.key, a.key);
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
  std::vector<Ringing> ringing_;                ///< A heap.
  EventTime ringing_until_ = EventTime::min();  ///< While alarms ring.
};

}  // namespace millrace
