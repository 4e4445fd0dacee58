#include "millrace/runtime/row.hpp"

#include <algorithm>

namespace millrace {

void Row::reserve(std::uint32_t words) {
  if (words <= room_) return;
  auto* const bigger = new std::uint64_t[words];
  std::memcpy(bigger, data(), words_ * sizeof(std::uint64_t));
  delete[] heap_;
  heap_ = bigger;
  room_ = words;
}

void Row::set_text(std::uint32_t field, std::string_view value) {
  const std::uint32_t at = words_;
  const auto words = static_cast<std::uint32_t>((value.size() + 7) / 8);
  reserve(at + words);
  words_ = at + words;
  if (words != 0) {
    data()[at + words - 1] = 0;  // The rest of the last word is part of what is compared.
    std::memcpy(data() + at, value.data(), value.size());
  }
  set_word(field, std::uint64_t{at} << 32 | value.size());
}

void Row::copy(std::uint32_t field, const Row& from, std::uint32_t other_field, FieldType type) {
  if (!from.has(other_field)) return;
  if (type == FieldType::text) {
    set_text(field, from.text(other_field));
  } else {
    set_integer(field, from.integer(other_field));  // The bits of a number of either type.
  }
}

void Codec<Row>::encode(Encoder& out, const Row& row) {
  out.number(row.fields_);
  out.number(row.words_);
  out.raw(row.data(), row.words_ * sizeof(std::uint64_t));
}

void Codec<Row>::decode(Decoder& in, Row& row) {
  const auto fields = in.number<std::uint32_t>();
  const auto words = in.count(sizeof(std::uint64_t));
  if (fields > Row::most_fields || words < fields + 1) {
    throw CorruptBytes("a row has too many fields or too few words");
  }
  Row read(fields);
  read.reserve(words);
  read.words_ = words;
  in.raw(read.data(), words * sizeof(std::uint64_t));
  row =
      std::move(read);  // Which words are texts only the steps know; `text` looks before it leaps.
}

}  // namespace millrace
