#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/env/cells.hpp"

namespace millrace::properties {

/// A hash of a set of rows to which rows can be added in any order: 128 bits, the sum of the rows'
/// hashes. A row that is there twice counts twice.
struct RowSetHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(std::span<const Cell> row);
  void add(const RowSetHash& other);
  friend bool operator==(const RowSetHash&, const RowSetHash&) = default;
};

/// A row as a value of its own, for explaining.
using OwnedCell = std::variant<std::monostate, std::int64_t, double, std::string>;
using OwnedRow = std::vector<OwnedCell>;

OwnedRow own(std::span<const Cell> row);
std::vector<Cell> lend(const OwnedRow& row);
/// `network=nn, window_start=1517677200000, count=10`.
std::string to_text(const OwnedRow& row, std::span<const std::string> columns);

}  // namespace millrace::properties
