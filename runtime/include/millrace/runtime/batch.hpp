#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// A row and when it happened. Rows of a batch are these, side by side.
template <class T>
struct Record {
  EventTime time;
  T value;
};

/// Rows in one piece of memory, in the order in which they were made.
///
/// Holds a fixed number, about 12 KiB: two batches and the state they meet then share the
/// first-level cache, which is worth a factor of two for cheap steps. Results never depend on where
/// batches end; a test runs jobs with room for one row.
template <class T>
class Batch {
 public:
  static constexpr std::uint32_t room() {
    return static_cast<std::uint32_t>(
        std::clamp<std::size_t>(target_bytes / sizeof(Record<T>), 16, 1024));
  }

  Batch() = default;
  Batch(Batch&& other) noexcept
      : rows_(std::exchange(other.rows_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Batch& operator=(Batch&& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Batch() {
    if (rows_ == nullptr) return;
    clear();
    std::allocator<Record<T>>{}.deallocate(rows_, room());
  }

  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == room(); }
  std::uint32_t size() const { return size_; }
  Record<T>* begin() { return rows_; }
  Record<T>* end() { return rows_ + size_; }
  const Record<T>* begin() const { return rows_; }
  const Record<T>* end() const { return rows_ + size_; }

  /// Adds a row. The batch is not full.
  template <class V>
  void add(EventTime time, V&& value) {
    ::new (static_cast<void*>(space() + size_)) Record<T>{time, std::forward<V>(value)};
    ++size_;
  }

  /// The memory itself, for a loop that makes rows in place and says afterwards how many there are.
  Record<T>* space() {
    if (rows_ == nullptr) [[unlikely]] {
      rows_ = std::allocator<Record<T>>{}.allocate(room());
    }
    return rows_;
  }
  void made(const Record<T>* end) { size_ = static_cast<std::uint32_t>(end - rows_); }

  void clear() {
    std::destroy_n(rows_, size_);
    size_ = 0;
  }

 private:
  static constexpr std::size_t target_bytes = 12 * 1024;

  Record<T>* rows_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace millrace
