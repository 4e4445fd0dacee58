#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "millrace/runtime/operators/steps.hpp"

namespace millrace::nexmark {

/// A fold: the rows that are largest by `Of`, all of them if there are several, in no order.
template <class Row, auto Of>
struct Leaders {
  struct State {
    std::vector<Row> rows;  ///< Equal by `Of`.
  };

  const Row& pick(const Row& row) const { return row; }

  void add(State& s, const Row& row) const {
    if (!s.rows.empty()) {
      const auto& most = std::invoke(Of, s.rows.front());
      const auto& its = std::invoke(Of, row);
      if (its < most) [[likely]] {
        return;
      }
      if (most < its) s.rows.clear();
    }
    s.rows.push_back(row);
  }
  void merge(State& s, const State& other) const {
    for (const Row& row : other.rows) add(s, row);
  }
  const std::vector<Row>& result(const State& s) const { return s.rows; }
};

}  // namespace millrace::nexmark
