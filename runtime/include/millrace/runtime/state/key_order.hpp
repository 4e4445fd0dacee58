#pragma once

#include <concepts>
#include <type_traits>

#include "millrace/env/bytes.hpp"
#include "millrace/runtime/state/codec.hpp"
#include "millrace/runtime/state/fields.hpp"

namespace millrace {

/// Whether `a` goes before `b`, where things are due for both at one time: by `<`; plain structs
/// without one member by member; anything else by its encoding. So no order of arrival, no hash and
/// no number of subtasks shows in what a subtask lets out.
template <class K>
bool key_less(const K& a, const K& b) {
  if constexpr (requires {
                  { a < b } -> std::convertible_to<bool>;
                }) {
    return a < b;
  } else if constexpr (std::is_aggregate_v<K>) {
    return with_fields(a, [&](const auto&... of_a) {
      return with_fields(b, [&](const auto&... of_b) {
        int order = 0;
        ((order = order != 0             ? order
                  : key_less(of_a, of_b) ? -1
                  : key_less(of_b, of_a) ? 1
                                         : 0),
         ...);
        return order < 0;
      });
    });
  } else {
    Encoder bytes_of_a;
    Encoder bytes_of_b;
    encode(bytes_of_a, a);
    encode(bytes_of_b, b);
    return as_text(bytes_of_a.view()) < as_text(bytes_of_b.view());
  }
}

}  // namespace millrace
