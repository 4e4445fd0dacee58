#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/env/error.hpp"

namespace millrace {

static_assert(std::endian::native == std::endian::little,
              "every format is little endian and is written as it lies in memory");

using Bytes = std::vector<std::byte>;

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Bytes that ended too early, or say something that cannot be.
class CorruptBytes : public CorruptObject {
  using CorruptObject::CorruptObject;
};

/// A buffer that values are added to: fixed widths, little endian, counts before texts and lists.
class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = default;
  Encoder(Encoder&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Encoder& operator=(Encoder other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }

  void raw(const void* from, std::size_t count) {
    if (count == 0) return;
    if (bytes_.size() - size_ < count) grow(count);
    std::memcpy(bytes_.data() + size_, from, count);
    size_ += count;
  }
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  void number(T value) {
    raw(&value, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    raw(value.data(), value.size());
  }
  void bytes(std::span<const std::byte> value) { text(as_text(value)); }

  /// Overwrites a number at `at`, for what is known only at the end.
  template <std::integral T>
  void patch(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  std::size_t size() const { return size_; }
  std::span<const std::byte> view() const { return std::span(bytes_).first(size_); }
  Bytes take() {
    bytes_.resize(std::exchange(size_, 0));
    return std::exchange(bytes_, {});
  }
  void clear() { size_ = 0; }

 private:
  /// Most of what is encoded is small: it gets its memory at once, and not number by number.
  void grow(std::size_t count) {
    constexpr std::size_t first = 128;
    bytes_.resize(std::max({size_ + count, first, 2 * bytes_.size()}));
  }

  Bytes bytes_;           ///< As long as there is room.
  std::size_t size_ = 0;  ///< So many are used.
};

/// Reads what an Encoder wrote. Trusts nothing: every read is checked against what is left.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : left_(bytes) {}

  void raw(void* to, std::size_t count) {
    const auto from = skip(count);
    if (count != 0) std::memcpy(to, from.data(), count);
  }
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  T number() {
    T value;
    raw(&value, sizeof value);
    return value;
  }
  /// The bytes themselves, good as long as what the decoder reads from.
  std::span<const std::byte> bytes() { return skip(number<std::uint32_t>()); }
  std::string_view text() { return as_text(bytes()); }

  /// A count of things of at least `least` bytes each; more than can be left is refused, so that a
  /// broken count cannot make anybody reserve memory for it.
  std::uint32_t count(std::size_t least) {
    const auto n = number<std::uint32_t>();
    if (n > left_.size() / least) throw CorruptBytes("a count is larger than what is left");
    return n;
  }
  std::span<const std::byte> skip(std::size_t count) {
    if (count > left_.size()) throw CorruptBytes("the bytes end inside a value");
    const auto skipped = left_.first(count);
    left_ = left_.subspan(count);
    return skipped;
  }
  std::size_t left() const { return left_.size(); }

  /// Throws CorruptBytes unless everything was read.
  void expect_end() const {
    if (!left_.empty()) throw CorruptBytes("there are bytes behind the last value");
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace millrace
