#pragma once

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
  void raw(const void* from, std::size_t count) {
    const std::size_t used = bytes_.size();
    bytes_.resize(used + count);
    if (count != 0) std::memcpy(bytes_.data() + used, from, count);
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

  /// Overwrites four bytes at `at`, for a length that is known only at the end.
  void patch(std::size_t at, std::uint32_t value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> view() const { return bytes_; }
  Bytes take() { return std::exchange(bytes_, {}); }
  void clear() { bytes_.clear(); }

 private:
  Bytes bytes_;
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
