#include "millrace/properties/row_hash.hpp"

#include <bit>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"

namespace millrace::properties {
namespace {

std::uint64_t hash_cell(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return mix64(static_cast<std::uint64_t>(*integer) ^ 1);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return mix64(std::bit_cast<std::uint64_t>(*real) ^ 2);
  }
  if (const auto* text = std::get_if<std::string_view>(&cell)) return mix64(checksum(*text) ^ 3);
  return mix64(4);
}

}  // namespace

void RowSetHash::add(std::span<const Cell> row) {
  std::uint64_t hash = row.size();
  for (const Cell& cell : row) hash = mix64(hash ^ hash_cell(cell)) + hash;
  add(RowSetHash{mix64(hash), mix64(hash ^ 0xA0761D6478BD642FU)});
}

void RowSetHash::add(const RowSetHash& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
}

OwnedRow own(std::span<const Cell> row) {
  OwnedRow owned;
  for (const Cell& cell : row) {
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
      owned.emplace_back(std::string(*text));
    } else if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      owned.emplace_back(*integer);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      owned.emplace_back(*real);
    } else {
      owned.emplace_back();
    }
  }
  return owned;
}

std::vector<Cell> lend(const OwnedRow& row) {
  std::vector<Cell> cells;
  for (const OwnedCell& cell : row) {
    if (const auto* text = std::get_if<std::string>(&cell)) {
      cells.emplace_back(std::string_view(*text));
    } else if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      cells.emplace_back(*integer);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      cells.emplace_back(*real);
    } else {
      cells.emplace_back();
    }
  }
  return cells;
}

std::string to_text(const OwnedRow& row, std::span<const std::string> columns) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i != 0) text += ", ";
    text += i < columns.size() ? columns[i] : fmt::format("column {}", i + 1);
    text += '=';
    if (const auto* string = std::get_if<std::string>(&row[i])) {
      text += *string;
    } else if (const auto* integer = std::get_if<std::int64_t>(&row[i])) {
      text += fmt::format("{}", *integer);
    } else if (const auto* real = std::get_if<double>(&row[i])) {
      text += fmt::format("{}", *real);
    } else {
      text += "NULL";
    }
  }
  return text;
}

}  // namespace millrace::properties
