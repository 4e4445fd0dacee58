#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "millrace/runtime/row.hpp"

namespace millrace {

/// Keeps the `most` rows that are largest by a field, largest first. Rows in which it is null are
/// passed over; those that are equal by it come by all their fields in turn, the smallest first and
/// null before any value. So the order in which rows came never shows.
class RowTop {
 public:
  RowTop(std::uint32_t most, std::uint32_t by, const std::vector<Field>& fields);

  struct State {
    std::vector<Row> rows;
  };

  const Row& pick(const Row& row) const { return row; }
  void add(State& state, const Row& row) const;
  void merge(State& state, const State& other) const;
  const std::vector<Row>& result(const State& state) const { return state.rows; }

 private:
  std::weak_ordering compare(const Row& a, const Row& b, std::uint32_t field) const;
  bool is_before(const Row& a, const Row& b) const;

  std::uint32_t most_;
  std::uint32_t by_;
  std::vector<FieldType> types_;
};

}  // namespace millrace
