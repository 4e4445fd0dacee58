#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace millrace {

/// Which keys to look at when time gets that far.
///
/// An index only: the alarms themselves are part of each key's entry, so they are saved and
/// restored with it, and this is built again. An entry that moved its alarm leaves the old one
/// here; whoever takes it out compares it with the entry's own and looks away.
///
/// Adding costs a search among the buckets of 128 that hold alarms, and no comparison within one:
/// a bucket is sorted when its time has come.
template <class K>
class AlarmIndex {
 public:
  struct Due {
    std::int64_t when;
    K key;
  };

  void add(std::int64_t when, const K& key) { buckets_[when >> bits].push_back({when, key}); }

  bool empty() const { return buckets_.empty(); }

  /// Whether `take(time)` may find something. False is certain; true may be 127 too early.
  bool any_before(std::int64_t time) const {
    return !buckets_.empty() && buckets_.begin()->first <= time >> bits;
  }

  /// The earliest alarm; the largest number: there is none. Looks at each of its bucket.
  std::int64_t earliest() const {
    std::int64_t when = std::numeric_limits<std::int64_t>::max();
    if (buckets_.empty()) return when;
    for (const Due& one : buckets_.begin()->second) when = std::min(when, one.when);
    return when;
  }

  /// Takes out what is due at `time`, earliest first; equal times in the order in which they were
  /// added.
  void take(std::int64_t time, std::vector<Due>& due) {
    due.clear();
    while (any_before(time)) {
      const auto first = buckets_.begin();
      std::vector<Due>& bucket = first->second;
      const bool is_whole = first->first < time >> bits;
      const auto cut = is_whole
                           ? bucket.end()
                           : std::stable_partition(bucket.begin(), bucket.end(),
                                                   [&](const Due& d) { return d.when <= time; });
      const auto found = static_cast<std::ptrdiff_t>(due.size());
      due.insert(due.end(), std::make_move_iterator(bucket.begin()), std::make_move_iterator(cut));
      std::stable_sort(due.begin() + found, due.end(),
                       [](const Due& a, const Due& b) { return a.when < b.when; });
      if (cut != bucket.end()) {
        bucket.erase(bucket.begin(), cut);
        break;
      }
      buckets_.erase(first);
    }
  }

 private:
  static constexpr int bits = 7;
  std::map<std::int64_t, std::vector<Due>> buckets_;
};

}  // namespace millrace
