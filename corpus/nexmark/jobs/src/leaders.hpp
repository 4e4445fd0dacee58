#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/runtime/operators/steps.hpp"

namespace millrace::nexmark {

/// A fold: the rows that are largest by `Of`, all of them if there are several, in no order.
template <class Row, auto Of>
struct Leaders {
  static constexpr bool shrinks = true;  ///< Of many rows few are the largest.
  struct State {
    std::vector<Row> rows;  ///< Equal by `Of`.
  };

  const Row& pick(const Row& row) const { return row; }

  void add(State& s, const Row& row) const {
    if (!s.rows.empty() && std::invoke(Of, row) < std::invoke(Of, s.rows.front())) [[likely]] {
      return;
    }
    keep(s, row);
  }
  void merge(State& s, const State& other) const {
    for (const Row& row : other.rows) add(s, row);
  }
  const std::vector<Row>& result(const State& s) const { return s.rows; }

 private:
  /// Takes a copy, so that those that are not kept need no place in memory.
  [[gnu::noinline]] static void keep(State& s, Row row) {
    if (!s.rows.empty() && std::invoke(Of, s.rows.front()) < std::invoke(Of, row)) s.rows.clear();
    s.rows.push_back(std::move(row));
  }
};

}  // namespace millrace::nexmark
