#pragma once

#include <algorithm>
#include <array>
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
/// Adding costs a search among the buckets of 128 that hold alarms, if it was not added to lately,
/// and no comparison within one: a bucket is dealt out to its 128 times when the first has come.
template <class K>
class AlarmIndex {
 public:
  struct Due {
    std::int64_t when;
    K key;
  };

  AlarmIndex() = default;
  AlarmIndex(const AlarmIndex&) = delete;
  AlarmIndex& operator=(const AlarmIndex&) = delete;

  void add(std::int64_t when, const K& key) {
    if (!open_.empty() && when >> bits <= open_bucket_) {
      open_.push_back({when, key});
      earliest_open_ = std::min(earliest_open_, when);
    } else {
      bucket_of(when >> bits).push_back({when, key});
    }
  }

  bool empty() const { return open_.empty() && buckets_.empty(); }

  /// Whether `take(time)` may find something. False is certain; true may be 127 too early.
  bool any_before(std::int64_t time) const {
    return (!open_.empty() && earliest_open_ <= time) || has_bucket_before(time);
  }

  /// The earliest alarm; the largest number: there is none. May look at each of its bucket.
  std::int64_t earliest() const {
    if (!open_.empty()) return earliest_open_;
    std::int64_t when = std::numeric_limits<std::int64_t>::max();
    if (buckets_.empty()) return when;
    for (const Due& one : buckets_.begin()->second) when = std::min(when, one.when);
    return when;
  }

  /// Takes out what is due at `time`, earliest first; equal times in the order in which they were
  /// added.
  void take(std::int64_t time, std::vector<Due>& due) {
    due.clear();
    while (!open_.empty() || has_bucket_before(time)) {
      if (open_.empty()) open_first_bucket();
      sort_open();
      const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(taken_);
      const auto end = std::upper_bound(begin, open_.end(), time,
                                        [](std::int64_t t, const Due& d) { return t < d.when; });
      due.insert(due.end(), std::make_move_iterator(begin), std::make_move_iterator(end));
      if (end != open_.end()) {
        taken_ = static_cast<std::size_t>(end - open_.begin());
        sorted_ = open_.size();
        earliest_open_ = end->when;
        return;
      }
      open_.clear();
      taken_ = 0;
      sorted_ = 0;
      earliest_open_ = std::numeric_limits<std::int64_t>::max();
    }
  }

 private:
  static constexpr int bits = 7;
  /// A bucket that was added to lately.
  struct Lately {
    std::int64_t number = 0;
    std::vector<Due>* bucket = nullptr;  ///< In the map, where they lie still.
  };

  bool has_bucket_before(std::int64_t time) const {
    return !buckets_.empty() && buckets_.begin()->first <= time >> bits;
  }
  std::vector<Due>& bucket_of(std::int64_t number) {
    Lately& lately = lately_[static_cast<std::size_t>(number) % lately_.size()];
    if (lately.bucket == nullptr || lately.number != number) {
      lately = {number, &buckets_[number]};
    }
    return *lately.bucket;
  }
  void open_first_bucket() {
    const auto first = buckets_.begin();
    open_bucket_ = first->first;
    deal_out(first->second);
    lately_[static_cast<std::size_t>(open_bucket_) % lately_.size()] = {};
    buckets_.erase(first);
  }
  /// Makes `bucket` the open one: sorted, equal times in their order, if it is not too small to be
  /// worth it.
  void deal_out(std::vector<Due>& bucket) {
    if (bucket.size() < 32) {
      open_ = std::move(bucket);
      return;
    }
    constexpr std::size_t times = std::size_t{1} << bits;
    const auto time_of = [](const Due& due) { return static_cast<std::size_t>(due.when) % times; };
    std::array<std::size_t, times + 1> place{};
    for (const Due& due : bucket) ++place[time_of(due) + 1];
    for (std::size_t i = 1; i < times; ++i) place[i] += place[i - 1];
    open_.resize(bucket.size());
    for (Due& due : bucket) open_[place[time_of(due)]++] = std::move(due);
    sorted_ = open_.size();
  }
  /// What was added to the open bucket since it was sorted finds its place.
  void sort_open() {
    if (sorted_ == open_.size()) return;
    const auto is_before = [](const Due& a, const Due& b) { return a.when < b.when; };
    const auto added = open_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::stable_sort(added, open_.end(), is_before);
    const auto left = open_.begin() + static_cast<std::ptrdiff_t>(taken_);
    if (left != added) std::inplace_merge(left, added, open_.end(), is_before);
    sorted_ = open_.size();
  }

  /// The bucket whose time has come, and all that is added before its end. None is open if empty.
  std::vector<Due> open_;
  std::int64_t open_bucket_ = 0;
  std::size_t taken_ = 0;   ///< So many of it were taken already,
  std::size_t sorted_ = 0;  ///< and so many are sorted.
  std::int64_t earliest_open_ = std::numeric_limits<std::int64_t>::max();
  std::map<std::int64_t, std::vector<Due>> buckets_;
  std::array<Lately, 256> lately_;  ///< By the low bits of the number.
};

}  // namespace millrace
