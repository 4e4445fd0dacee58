#include "millrace/env/cells.hpp"

#include <fmt/format.h>

namespace millrace {
namespace {

enum class Tag : std::uint8_t { null = 0, integer = 1, real = 2, text = 3 };

}  // namespace

void CellWriter::null() { out_.number(static_cast<std::uint8_t>(Tag::null)); }

void CellWriter::integer(std::int64_t value) {
  out_.number(static_cast<std::uint8_t>(Tag::integer));
  out_.number(value);
}

void CellWriter::real(double value) {
  out_.number(static_cast<std::uint8_t>(Tag::real));
  out_.number(value);
}

void CellWriter::text(std::string_view value) {
  out_.number(static_cast<std::uint8_t>(Tag::text));
  out_.text(value);
}

void CellWriter::cell(const Cell& value) {
  if (const auto* integer_value = std::get_if<std::int64_t>(&value)) return integer(*integer_value);
  if (const auto* real_value = std::get_if<double>(&value)) return real(*real_value);
  if (const auto* text_value = std::get_if<std::string_view>(&value)) return text(*text_value);
  null();
}

Bytes CellWriter::take() {
  rows_ = 0;
  return out_.take();
}

Cell CellReader::next() {
  switch (const auto tag = in_.number<std::uint8_t>(); static_cast<Tag>(tag)) {
    case Tag::null: return std::monostate{};
    case Tag::integer: return in_.number<std::int64_t>();
    case Tag::real: return in_.number<double>();
    case Tag::text: return in_.text();
    default: throw CorruptBytes(fmt::format("there is no cell of type {}", tag));
  }
}

}  // namespace millrace
