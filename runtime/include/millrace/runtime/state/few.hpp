#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/runtime/state/codec.hpp"

namespace millrace {

/// A list whose first element lies in the list itself: for entries of a table that have one of
/// something nearly always, and sometimes several. Takes memory from elsewhere for the second.
template <class T>
class Few {
 public:
  Few() = default;
  Few(const Few& other) : first_(other.first_), size_(other.size_) {
    if (other.size_ > 1) rest_ = std::make_unique<std::vector<T>>(*other.rest_);
  }
  Few(Few&& other) noexcept
      : first_(std::move(other.first_)),
        size_(std::exchange(other.size_, 0)),
        rest_(std::move(other.rest_)) {}
  Few& operator=(Few other) noexcept {
    first_ = std::move(other.first_);
    std::swap(size_, other.size_);
    std::swap(rest_, other.rest_);
    return *this;
  }
  ~Few() = default;

  std::uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::uint32_t i) { return i == 0 ? first_ : (*rest_)[i - 1]; }
  const T& operator[](std::uint32_t i) const { return i == 0 ? first_ : (*rest_)[i - 1]; }

  /// Puts `element` before the one at `at`, and returns where it is now.
  T& insert(std::uint32_t at, T element) {
    if (size_ != 0) {
      if (rest_ == nullptr) rest_ = std::make_unique<std::vector<T>>();
      if (at == 0) std::swap(element, first_);
      rest_->insert(rest_->begin() + (at == 0 ? 0 : at - 1), std::move(element));
    } else {
      first_ = std::move(element);
    }
    ++size_;
    return (*this)[at];
  }

  void erase(std::uint32_t at) {
    if (size_ > 1) {
      if (at == 0) first_ = std::move(rest_->front());
      rest_->erase(rest_->begin() + (at == 0 ? 0 : at - 1));
    } else {
      first_ = T{};
    }
    --size_;
  }
  void erase_first(std::uint32_t count) {
    if (count == 0) return;
    if (count > 1) rest_->erase(rest_->begin(), rest_->begin() + (count - 1));
    size_ -= count - 1;
    erase(0);
  }

 private:
  T first_{};
  std::uint32_t size_ = 0;
  std::unique_ptr<std::vector<T>> rest_;  ///< All but the first.
};

/// As any list.
template <class T>
struct Codec<Few<T>> {
  static void encode(Encoder& out, const Few<T>& value) {
    out.number(value.size());
    for (std::uint32_t i = 0; i < value.size(); ++i) millrace::encode(out, value[i]);
  }
  static void decode(Decoder& in, Few<T>& value) {
    value = {};
    const std::uint32_t size = in.count(1);
    for (std::uint32_t i = 0; i < size; ++i) value.insert(i, decoded<T>(in));
  }
  static std::string shape() { return Codec<std::vector<T>>::shape(); }
};

}  // namespace millrace
