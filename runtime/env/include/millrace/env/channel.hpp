#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/env/parker.hpp"

namespace millrace {

/// A bounded queue between tasks of one node, first in, first out: the same code in both worlds.
///
/// Any number of tasks may put, one takes. The lock is never held across anything that waits, so
/// the simulator's single thread always finds it free.
template <class T>
class Channel {
 public:
  explicit Channel(std::size_t room) : room_(room) {}

  /// Names the task that takes. Until then what is put waits.
  void bind(Parker& consumer) {
    const std::lock_guard lock(mutex_);
    consumer_ = &consumer;
    if (count_ != 0) consumer.unpark();
  }

  /// Puts `value` at the end, waiting while there is no room: that is all the back-pressure there
  /// is. Throws Cancelled or Killed, and then `value` was not put.
  void put(T value, Parker& self) {
    InnerWait wait(self);
    while (!try_put(value, &self)) wait.until(Instant::never());
  }

  /// Puts `value` and returns true, or leaves it and returns false. With `producer`, that task is
  /// unparked once when there is room again.
  bool try_put(T& value, Parker* producer = nullptr) {
    const std::lock_guard lock(mutex_);
    if (count_ == room_) {
      if (producer != nullptr) waiting_.push_back(producer);
      return false;
    }
    if (count_ == ring_.size()) grow();
    ring_[(head_ + count_) % ring_.size()].emplace(std::move(value));
    if (count_++ == 0 && consumer_ != nullptr) consumer_->unpark();
    return true;
  }

  std::optional<T> try_take() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return std::nullopt;
    std::optional<T> value = std::exchange(ring_[head_], std::nullopt);
    head_ = (head_ + 1) % ring_.size();
    --count_;
    for (Parker* producer : waiting_) producer->unpark();
    waiting_.clear();
    return value;
  }

  bool empty() const {
    const std::lock_guard lock(mutex_);
    return count_ == 0;
  }

 private:
  /// Most channels never hold more than a few: memory for all of `room_` would cost each of them
  /// more than what is ever put.
  void grow() {
    constexpr std::size_t first = 8;
    std::vector<std::optional<T>> larger(std::min(room_, std::max(first, 2 * ring_.size())));
    for (std::size_t i = 0; i < count_; ++i) {
      larger[i] = std::move(ring_[(head_ + i) % ring_.size()]);
    }
    ring_ = std::move(larger);
    head_ = 0;
  }

  mutable std::mutex mutex_;
  const std::size_t room_;
  std::vector<std::optional<T>> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  Parker* consumer_ = nullptr;
  std::vector<Parker*> waiting_;
};

}  // namespace millrace
