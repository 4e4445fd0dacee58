#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/cells.hpp"
#include "millrace/runtime/state/codec.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {

/// The type of a field that is known only when a job file is read.
enum class FieldType : std::uint8_t { integer, real, text };

struct Field {
  std::string name;
  FieldType type = FieldType::integer;
  bool nullable = false;
  friend bool operator==(const Field&, const Field&) = default;
};

/// A row whose fields are known at run time: one piece of memory, eight bytes a field, texts behind
/// them. Five fields and short texts fit inside the row itself.
///
/// Does not know its fields: the steps that touch it were made for them. Fields are set in
/// ascending order, once; so equal rows have equal bytes, and a Row also serves as a key of several
/// fields.
class Row {
 public:
  static constexpr std::uint32_t most_fields = 64;

  Row() : Row(0) {}
  explicit Row(std::uint32_t fields) : fields_(fields) {
    reserve(fields + 1);
    std::memset(data(), 0, (fields + 1) * sizeof(std::uint64_t));
    words_ = fields + 1;
  }
  Row(const Row& other) : fields_(other.fields_) {
    reserve(other.words_);
    std::memcpy(data(), other.data(), other.words_ * sizeof(std::uint64_t));
    words_ = other.words_;
  }
  Row(Row&& other) noexcept { steal(other); }
  Row& operator=(Row other) noexcept {
    delete[] heap_;
    steal(other);
    return *this;
  }
  ~Row() { delete[] heap_; }

  std::uint32_t fields() const { return fields_; }
  /// A field that was not set is null.
  bool has(std::uint32_t field) const { return (data()[0] >> field & 1) != 0; }
  std::int64_t integer(std::uint32_t field) const {
    return static_cast<std::int64_t>(data()[field + 1]);
  }
  double real(std::uint32_t field) const {
    double value;
    std::memcpy(&value, &data()[field + 1], sizeof value);
    return value;
  }
  /// Good as long as the row is neither changed nor moved.
  /// Throws CorruptBytes: the row was read from bytes, and they point outside of it.
  std::string_view text(std::uint32_t field) const {
    const std::uint64_t word = data()[field + 1];
    const std::uint64_t begin = word >> 32;
    const std::uint64_t size = word & 0xFFFFFFFFU;
    if (begin * sizeof word + size > words_ * sizeof word) [[unlikely]] {
      throw CorruptBytes("a text lies outside of its row");
    }
    return {reinterpret_cast<const char*>(data() + begin), static_cast<std::size_t>(size)};
  }

  void set_integer(std::uint32_t field, std::int64_t value) {
    set_word(field, static_cast<std::uint64_t>(value));
  }
  void set_real(std::uint32_t field, double value) {
    std::uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    set_word(field, word);
  }
  void set_text(std::uint32_t field, std::string_view value);
  /// Copies a field of another row, whatever it holds.
  void copy(std::uint32_t field, const Row& from, std::uint32_t other_field, FieldType type);

  friend bool operator==(const Row& a, const Row& b) {
    return a.words_ == b.words_ && a.fields_ == b.fields_ &&
           std::memcmp(a.data(), b.data(), a.words_ * sizeof(std::uint64_t)) == 0;
  }
  std::uint64_t hash() const { return hash_bytes(data(), words_ * sizeof(std::uint64_t)); }

 private:
  friend struct Codec<Row>;
  static constexpr std::uint32_t inline_words = 6;

  const std::uint64_t* data() const { return heap_ != nullptr ? heap_ : inline_; }
  std::uint64_t* data() { return heap_ != nullptr ? heap_ : inline_; }
  void set_word(std::uint32_t field, std::uint64_t word) {
    data()[0] |= std::uint64_t{1} << field;
    data()[field + 1] = word;
  }
  void reserve(std::uint32_t words);
  void steal(Row& other) {
    fields_ = std::exchange(other.fields_, 0);
    words_ = std::exchange(other.words_, 0);
    room_ = std::exchange(other.room_, inline_words);
    heap_ = std::exchange(other.heap_, nullptr);
    if (heap_ == nullptr) std::memcpy(inline_, other.inline_, words_ * sizeof(std::uint64_t));
  }

  // Word 0 has a bit for every field that is set; field i is word i + 1; texts follow.
  std::uint32_t fields_ = 0;
  std::uint32_t words_ = 0;
  std::uint32_t room_ = inline_words;
  std::uint64_t* heap_ = nullptr;
  std::uint64_t inline_[inline_words];
};

template <>
struct Codec<Row> {
  static void encode(Encoder& out, const Row& row);
  static void decode(Decoder& in, Row& row);
  static std::string shape() { return "row"; }
};

}  // namespace millrace
