#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include "millrace/env/event_time.hpp"

namespace millrace {

/// A function or member that is named at compile time, so that the compiler sees through it.
template <auto What>
struct Named {
  template <class... A>
  constexpr decltype(auto) operator()(A&&... arguments) const {
    return std::invoke(What, std::forward<A>(arguments)...);
  }
};

/// What the compiler cannot see through: rows would cost two to four times as much.
template <class F>
concept Opaque = std::is_pointer_v<F> || std::is_member_pointer_v<F>;

}  // namespace millrace

namespace millrace::steps {

// A step is a function (time, value, next) that calls `next(time, value)` once for each row it lets
// out. Steps are pure, so one step may run in several tasks and in several branches.

struct None {
  template <class V, class Next>
  void operator()(EventTime time, V&& value, Next&& next) const {
    next(time, std::forward<V>(value));
  }
};

template <class F>
struct Map {
  F f;
  template <class V, class Next>
  void operator()(EventTime time, V&& value, Next&& next) const {
    next(time, std::invoke(f, std::forward<V>(value)));
  }
};

template <class F>
struct Filter {
  F f;
  template <class V, class Next>
  void operator()(EventTime time, V&& value, Next&& next) const {
    if (std::invoke(f, std::as_const(value))) next(time, std::forward<V>(value));
  }
};

/// `f` gives an optional, or any range.
template <class F>
struct FlatMap {
  F f;
  template <class V, class Next>
  void operator()(EventTime time, V&& value, Next&& next) const {
    auto made = std::invoke(f, std::forward<V>(value));
    if constexpr (requires { made.has_value(); }) {
      if (made) next(time, *std::move(made));
    } else {
      for (auto&& one : made) next(time, std::move(one));
    }
  }
};

template <class A, class B>
struct Then {
  [[no_unique_address]] A a;
  [[no_unique_address]] B b;
  template <class V, class Next>
  void operator()(EventTime time, V&& value, Next&& next) const {
    a(time, std::forward<V>(value),
      [&](EventTime t, auto&& v) { b(t, std::forward<decltype(v)>(v), next); });
  }
};

template <class A, class B>
auto then(A a, B b) {
  if constexpr (std::is_same_v<A, None>) {
    return b;
  } else {
    return Then<A, B>{std::move(a), std::move(b)};
  }
}

}  // namespace millrace::steps
