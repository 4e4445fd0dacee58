#pragma once

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
  explicit Channel(std::size_t room) : ring_(room) {}

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
    if (count_ == ring_.size()) {
      if (producer != nullptr) waiting_.push_back(producer);
      return false;
    }
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
  mutable std::mutex mutex_;
  std::vector<std::optional<T>> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  Parker* consumer_ = nullptr;
  std::vector<Parker*> waiting_;
};

}  // namespace millrace
