#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/env/error.hpp"
#include "millrace/runtime/operators/steps.hpp"

namespace millrace {

// Folds that keep values, and so need memory for them: per key and pane, in every snapshot. The
// order in which rows came never shows; where there is an order it is that of the values.

namespace aggregates {

/// Keeps each value once. Half of them, and 32 more, may be there twice until they are sorted.
template <class V, class Of>
struct CountDistinct {
  static_assert(std::totally_ordered<V>, "values that are told apart by sorting need an order");
  Of of;
  struct State {
    std::vector<V> values;     ///< Sorted at first,
    std::uint64_t sorted = 0;  ///< as far as this.
  };
  template <class T>
  V pick(const T& row) const {
    return std::invoke(of, row);
  }
  void add(State& s, const V& value) const {
    s.values.push_back(value);
    if (s.values.size() > 2 * s.sorted + 32) sort(s);
  }
  void merge(State& s, const State& other) const {
    s.values.insert(s.values.end(), other.values.begin(), other.values.end());
    sort(s);
  }
  /// Sorts a copy unless nothing came since the last time.
  std::int64_t result(const State& s) const {
    if (s.sorted == s.values.size()) return static_cast<std::int64_t>(s.sorted);
    State sorted = s;
    sort(sorted);
    return static_cast<std::int64_t>(sorted.sorted);
  }

 private:
  static void sort(State& s) {
    std::sort(s.values.begin(), s.values.end());
    s.values.erase(std::unique(s.values.begin(), s.values.end()), s.values.end());
    s.sorted = s.values.size();
  }
};

/// Keeps the `most` rows that are largest by `of`, largest first; among equals the larger row.
template <class T, class Of>
struct Top {
  static_assert(std::totally_ordered<T>,
                "rows that are equal by the member are ordered by themselves: give them <=>");
  Of of;
  std::size_t most;
  struct State {
    std::vector<T> rows;
  };
  const T& pick(const T& row) const { return row; }
  void add(State& s, const T& row) const {
    const auto at = std::upper_bound(s.rows.begin(), s.rows.end(), row,
                                     [&](const T& a, const T& b) { return is_before(a, b); });
    if (s.rows.size() == most) {
      if (at == s.rows.end()) return;
      std::move_backward(at, s.rows.end() - 1, s.rows.end());
      *at = row;
    } else {
      s.rows.insert(at, row);
    }
  }
  void merge(State& s, const State& other) const {
    for (const T& row : other.rows) add(s, row);
  }
  const std::vector<T>& result(const State& s) const { return s.rows; }

 private:
  bool is_before(const T& a, const T& b) const {
    const auto& left = std::invoke(of, a);
    const auto& right = std::invoke(of, b);
    return left == right ? b < a : right < left;
  }
};

/// Keeps all values, and calls `f` with them in ascending order.
template <class V, class Of, class F>
struct Collect {
  static_assert(std::totally_ordered<V>,
                "what is collected is given in order, because rows come in none: give it <=>");
  Of of;
  F f;
  struct State {
    std::vector<V> values;
  };
  template <class T>
  V pick(const T& row) const {
    return std::invoke(of, row);
  }
  void add(State& s, const V& value) const { s.values.push_back(value); }
  void merge(State& s, const State& other) const {
    s.values.insert(s.values.end(), other.values.begin(), other.values.end());
  }
  auto result(const State& s) const {
    std::vector<V> values = s.values;
    std::sort(values.begin(), values.end());
    return std::invoke(f, std::span<const V>(values));
  }
};

struct Itself {
  template <class T>
  const T& operator()(const T& row) const {
    return row;
  }
};

/// The struct that a member belongs to.
template <class Member>
struct OwnerOf;
template <class T, class V>
struct OwnerOf<V T::*> {
  using type = T;
};
template <class T, class Of>
using MadeOf = std::remove_cvref_t<std::invoke_result_t<const Of&, const T&>>;

}  // namespace aggregates

/// How many different values there are: `count_distinct<&Bid::bidder>()`, or of what a function
/// makes of rows of T: `count_distinct<Bid>([](const Bid& bid) { ... })`. Exact.
template <auto Of>
  requires std::is_member_pointer_v<decltype(Of)>
auto count_distinct() {
  using T = typename aggregates::OwnerOf<decltype(Of)>::type;
  return aggregates::CountDistinct<aggregates::MadeOf<T, Named<Of>>, Named<Of>>{};
}
template <class T, class F>
auto count_distinct(F of) {
  return aggregates::CountDistinct<aggregates::MadeOf<T, F>, F>{std::move(of)};
}

/// The `most` rows that are largest by a member, largest first, as a vector: `top<&Bid::price>(3)`.
/// Rows that are equal by it are ordered by themselves. Keeps `most` rows, and moves up to as many
/// for each that is among them.
///
/// Throws UsageError: `most` is 0.
template <class T, class F>
auto top(std::size_t most, F of) {
  if (most == 0) throw UsageError("the top 0 rows: at least 1 is expected");
  return aggregates::Top<T, F>{std::move(of), most};
}
template <auto Of>
  requires std::is_member_pointer_v<decltype(Of)>
auto top(std::size_t most) {
  return top<typename aggregates::OwnerOf<decltype(Of)>::type>(most, Named<Of>{});
}

/// What `f` makes of all rows of a window, `collect<Bid>([](std::span<const Bid> bids) { ... })`,
/// or of a member of them, `collect<&Bid::price>(...)`. They come in ascending order.
///
/// Keeps every row until the window is cleaned up, and sorts them each time it fires: a fold that
/// needs less should not be written with it.
template <class T, class F>
auto collect(F f) {
  return aggregates::Collect<T, aggregates::Itself, F>{{}, std::move(f)};
}
template <auto Of, class F>
  requires std::is_member_pointer_v<decltype(Of)>
auto collect(F f) {
  using T = typename aggregates::OwnerOf<decltype(Of)>::type;
  return aggregates::Collect<aggregates::MadeOf<T, Named<Of>>, Named<Of>, F>{{}, std::move(f)};
}

}  // namespace millrace
