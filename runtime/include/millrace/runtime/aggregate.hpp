#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "millrace/env/error.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/env/int128.hpp"
#include "millrace/runtime/operators/exact_sum.hpp"
#include "millrace/runtime/operators/steps.hpp"

namespace millrace {

/// A fold over the rows of one key and one window.
///
///     struct LongestTrip {
///       struct State { std::int64_t km = 0; };
///       std::int64_t pick(const Trip& trip) const { return trip.km; }
///       void add(State& s, std::int64_t km) const { s.km = std::max(s.km, km); }
///       void merge(State& s, const State& other) const { add(s, other.km); }
///       std::int64_t result(const State& s) const { return s.km; }
///     };
///
/// All memory is in State; a fresh State is the fold of no rows. `pick` is what `add` needs of a
/// row: only that is sent to the task that holds the key. `merge` puts two folds together, in
/// either order: rows are folded in parts, and the result must not show it.
///
/// Where rows of a key come again soon they are folded before they are sent, if State is a few
/// plain bytes. A fold whose State takes memory from elsewhere says itself whether that is worth
/// it: `static constexpr bool shrinks = true` promises that the fold of many rows is hardly larger
/// than that of one. Others would send the same values in more pieces of memory.
template <class A, class T>
concept Aggregate =
    std::default_initializable<typename A::State> &&
    requires(const A& a, const T& row, typename A::State& s, const typename A::State& other) {
      a.add(s, a.pick(row));
      a.merge(s, other);
      a.result(other);
    };

/// Whether a fold says that it stays small, whatever its State is made of.
template <class A>
concept Shrinking = requires { requires A::shrinks; };

/// A fold that others can be taken out of again: `subtract` undoes `merge`.
///
/// Overlapping windows then keep one running total per key, and what a window costs does not grow
/// with size / slide.
template <class A>
concept Subtractable = requires(const A& a, typename A::State& s, const typename A::State& other) {
  a.subtract(s, other);
};

/// A fold of some rows of a key, and of how many.
template <class S>
struct Partial {
  S state;
  std::uint32_t rows;
};
/// The same of rows of one session. The time that it goes with is that of the first.
template <class S>
struct SessionPart {
  S state;
  std::uint32_t rows;
  EventTime last;
};

/// No data at all.
struct Nothing {
  friend constexpr auto operator<=>(Nothing, Nothing) = default;
};

// The types of the folds that come with Millrace. In a namespace of their own, because `Sum` and
// `Count` are what users call things too.
namespace aggregates {

struct Count {
  using State = std::int64_t;
  template <class T>
  Nothing pick(const T&) const {
    return {};
  }
  void add(State& s, Nothing) const { ++s; }
  void merge(State& s, State other) const { s += other; }
  void subtract(State& s, State other) const { s -= other; }
  std::int64_t result(State s) const { return s; }
};

/// Adds in 128 bits, so that neither the order nor a passing overflow matters.
template <class Of>
struct Sum {
  Of of;
  struct State {
    Int128 total = 0;
  };
  template <class T>
  std::int64_t pick(const T& row) const {
    return std::invoke(of, row);
  }
  void add(State& s, std::int64_t value) const { s.total += value; }
  void merge(State& s, const State& other) const { s.total += other.total; }
  void subtract(State& s, const State& other) const { s.total -= other.total; }
  /// Throws JobFailed: the sum does not fit into 64 bits.
  std::int64_t result(const State& s) const {
    if (s.total < std::numeric_limits<std::int64_t>::min() ||
        s.total > std::numeric_limits<std::int64_t>::max()) {
      throw JobFailed("a sum does not fit into 64 bits");
    }
    return static_cast<std::int64_t>(s.total);
  }
};

/// The sum is exact, and the division rounds once: to the nearest double, ties to even.
template <class Of>
struct Average {
  Of of;
  struct State {
    Int128 total = 0;
    std::uint64_t rows = 0;
  };
  template <class T>
  std::int64_t pick(const T& row) const {
    return std::invoke(of, row);
  }
  void add(State& s, std::int64_t value) const {
    s.total += value;
    ++s.rows;
  }
  void merge(State& s, const State& other) const {
    s.total += other.total;
    s.rows += other.rows;
  }
  void subtract(State& s, const State& other) const {
    s.total -= other.total;
    s.rows -= other.rows;
  }
  double result(const State& s) const { return rounded_mean(s.total, s.rows); }
};

template <class Of, class Before>
struct Extreme {
  Of of;
  struct State {
    std::int64_t value = 0;
    std::uint64_t rows = 0;
  };
  template <class T>
  std::int64_t pick(const T& row) const {
    return std::invoke(of, row);
  }
  void add(State& s, std::int64_t value) const {
    if (s.rows++ == 0 || Before{}(value, s.value)) s.value = value;
  }
  void merge(State& s, const State& other) const {
    if (other.rows == 0) return;
    if (s.rows == 0 || Before{}(other.value, s.value)) s.value = other.value;
    s.rows += other.rows;
  }
  std::int64_t result(const State& s) const { return s.value; }
};

/// Several folds of the same rows, side by side.
template <class... A>
struct All {
  std::tuple<A...> folds;
  struct State {
    std::tuple<typename A::State...> parts;
  };
  template <class T>
  auto pick(const T& row) const {
    return std::apply([&](const A&... fold) { return std::make_tuple(fold.pick(row)...); }, folds);
  }
  template <class Picked>
  void add(State& s, const Picked& picked) const {
    each([&](auto i) { std::get<i>(folds).add(std::get<i>(s.parts), std::get<i>(picked)); });
  }
  void merge(State& s, const State& other) const {
    each([&](auto i) { std::get<i>(folds).merge(std::get<i>(s.parts), std::get<i>(other.parts)); });
  }
  void subtract(State& s, const State& other) const
    requires(Subtractable<A> && ...)
  {
    each([&](auto i) {
      std::get<i>(folds).subtract(std::get<i>(s.parts), std::get<i>(other.parts));
    });
  }
  auto result(const State& s) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::make_tuple(std::get<I>(folds).result(std::get<I>(s.parts))...);
    }(std::index_sequence_for<A...>{});
  }

 private:
  template <class F>
  static void each(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(std::integral_constant<std::size_t, I>{}), ...);
    }(std::index_sequence_for<A...>{});
  }
};

/// A fold that is given whole rows, where they are needed for something else too.
template <class A, class T>
struct OfRows {
  A fold;
  using State = typename A::State;
  const T& pick(const T& row) const { return row; }
  void add(State& s, const T& row) const { fold.add(s, fold.pick(row)); }
  void merge(State& s, const State& other) const { fold.merge(s, other); }
  void subtract(State& s, const State& other) const
    requires Subtractable<A>
  {
    fold.subtract(s, other);
  }
  decltype(auto) result(const State& s) const { return fold.result(s); }
};

/// A fold that is given folds of some rows: what others have begun.
template <class A>
struct OfPartials {
  A fold;
  using State = typename A::State;
  /// A Partial or a SessionPart.
  template <class Part>
  void add(State& s, const Part& part) const {
    fold.merge(s, part.state);
  }
  void merge(State& s, const State& other) const { fold.merge(s, other); }
  void subtract(State& s, const State& other) const
    requires Subtractable<A>
  {
    fold.subtract(s, other);
  }
  decltype(auto) result(const State& s) const { return fold.result(s); }
};

}  // namespace aggregates

/// The number of rows.
inline aggregates::Count count() { return {}; }

/// Of an integer member, `sum<&Bid::price>()`, or of what a function makes of the row.
template <auto Of>
auto sum() {
  return aggregates::Sum<Named<Of>>{};
}
template <class F>
auto sum(F of) {
  return aggregates::Sum<F>{std::move(of)};
}
template <auto Of>
auto average() {
  return aggregates::Average<Named<Of>>{};
}
template <class F>
auto average(F of) {
  return aggregates::Average<F>{std::move(of)};
}
template <auto Of>
auto minimum() {
  return aggregates::Extreme<Named<Of>, std::less<>>{};
}
template <class F>
auto minimum(F of) {
  return aggregates::Extreme<F, std::less<>>{std::move(of)};
}
template <auto Of>
auto maximum() {
  return aggregates::Extreme<Named<Of>, std::greater<>>{};
}
template <class F>
auto maximum(F of) {
  return aggregates::Extreme<F, std::greater<>>{std::move(of)};
}

/// Several folds of the same rows; the result is the tuple of their results.
template <class... A>
auto all(A... folds) {
  return aggregates::All<A...>{{std::move(folds)...}};
}

}  // namespace millrace
