#pragma once

#include <utility>

#include "millrace/runtime/window.hpp"
#include "millrace/runtime/windowed_flow.hpp"

namespace millrace {

/// Rows by key.
template <class K, class T, class Line, class KeyOf>
class KeyedFlow {
 public:
  KeyedFlow(Line line, KeyOf key_of) : line_(std::move(line)), key_of_(std::move(key_of)) {}

  /// The same rows, to be folded per window: `tumbling`, `sliding`, `sessions` or `global`.
  template <class Windows>
    requires WindowKind<Windows>
  auto window(Windows windows) const {
    return WindowedFlow<K, T, Line, KeyOf, Windows>(line_, key_of_, windows);
  }

 private:
  Line line_;
  KeyOf key_of_;
};

}  // namespace millrace
