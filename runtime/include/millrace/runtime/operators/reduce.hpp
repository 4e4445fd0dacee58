#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace millrace {

/// The running result per key: each row is put together with what came before, and the result goes
/// on, at the row's time. The first row of a key is its own result.
template <class T, class F>
struct Reduce {
  struct State {
    std::optional<T> so_far;
  };
  using Output = T;

  F f;

  template <class Context, class Emit>
  void on_record(const T& row, Context& here, Emit& out) const {
    std::optional<T>& so_far = here.state().so_far;
    so_far = so_far ? T(std::invoke(f, *std::as_const(so_far), row)) : row;
    out(*so_far);
  }
};

}  // namespace millrace
