#pragma once

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace millrace {

namespace fields_detail {

/// Never called. It has a body because a type of an anonymous namespace would have nowhere else to
/// find one.
struct Anything {
  template <class T>
  [[noreturn]] operator T() const {
    std::terminate();
  }
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{((void)I, Anything{})...}; };
}

inline constexpr std::size_t most_fields = 16;

template <class T, std::size_t N = most_fields + 1>
constexpr std::size_t count() {
  if constexpr (N == 0 || takes<T>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return count<T, N - 1>();
  }
}

}  // namespace fields_detail

/// Calls `f` with the members of a plain struct, in their order. Up to 16 members, no C arrays.
///
/// Structured bindings and not a library: half the time to compile, and nothing of it in the
/// headers that users include.
template <class T, class F>
constexpr decltype(auto) with_fields(T&& t, F&& f) {
  constexpr std::size_t n = fields_detail::count<std::remove_cvref_t<T>>();
  static_assert(n <= fields_detail::most_fields,
                "too many members: specialise millrace::Codec for this type");
  if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    auto& [a] = t;
    return f(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = t;
    return f(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = t;
    return f(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = t;
    return f(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = t;
    return f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, g] = t;
    return f(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, g, h] = t;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, g, h, i] = t;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = t;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = t;
    return f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = t;
    return f(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = t;
    return f(a, b, c, d, e, g, h, i, j, k, l, m);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o] = t;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p] = t;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p);
  } else if constexpr (n == 15) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q] = t;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q);
  } else {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r] = t;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r);
  }
}

}  // namespace millrace
