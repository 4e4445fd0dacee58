#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "millrace/runtime/state/codec.hpp"
#include "millrace/runtime/state/few.hpp"
#include "millrace/runtime/trigger.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// What is kept of a window for its trigger.
template <class Tr>
struct TriggerMemory {
  typename Tr::State state{};
  EventTime alarm = EventTime::max();
  EventTime wall_alarm = EventTime::max();
};
/// Nothing, if there is nothing to keep.
template <class Tr>
  requires(std::is_empty_v<typename Tr::State> && !HasAlarm<Tr> && !HasWallAlarm<Tr>)
struct TriggerMemory<Tr> {};

/// A window of one key that has not been cleaned up.
template <class S, class Tr>
struct OpenWindow {
  Window window;
  S state{};  ///< The fold of the rows since it was purged last.
  [[no_unique_address]] TriggerMemory<Tr> trigger{};
  std::uint32_t results = 0;  ///< That it let out.
  bool has_rows = false;      ///< Since it was purged last; without, it lets nothing out.
  bool has_ended = false;     ///< The watermark has reached its last instant, and it was told.
};

/// The windows of one key, by their starts, and where the alarm indices know it from.
template <class S, class Tr>
struct KeyWindows {
  /// An alarm that the index holds: at or before the earliest of all windows.
  struct Indexed {
    EventTime at = EventTime::max();
  };
  struct NotIndexed {};

  Few<OpenWindow<S, Tr>> open;
  Indexed indexed;
  [[no_unique_address]] std::conditional_t<HasWallAlarm<Tr>, Indexed, NotIndexed> wall_indexed;
};

template <class Tr>
struct Codec<TriggerMemory<Tr>> {
  static constexpr bool is_empty = std::is_empty_v<TriggerMemory<Tr>>;
  static void encode(Encoder& out, const TriggerMemory<Tr>& value) {
    if constexpr (!is_empty) {
      millrace::encode(out, value.state);
      millrace::encode(out, value.alarm);
      millrace::encode(out, value.wall_alarm);
    }
  }
  static void decode(Decoder& in, TriggerMemory<Tr>& value) {
    if constexpr (!is_empty) {
      millrace::decode(in, value.state);
      millrace::decode(in, value.alarm);
      millrace::decode(in, value.wall_alarm);
    }
  }
  static std::string shape() {
    return is_empty ? "nothing" : "trigger of " + millrace::shape<typename Tr::State>();
  }
};

template <class S, class Tr>
struct Codec<OpenWindow<S, Tr>> {
  static void encode(Encoder& out, const OpenWindow<S, Tr>& value) {
    out.number(value.window.start.ms);
    out.number(value.window.end.ms);
    out.number(value.results);
    millrace::encode(out, value.has_rows);
    millrace::encode(out, value.has_ended);
    millrace::encode(out, value.state);
    millrace::encode(out, value.trigger);
  }
  static void decode(Decoder& in, OpenWindow<S, Tr>& value) {
    value.window.start.ms = in.number<std::int64_t>();
    value.window.end.ms = in.number<std::int64_t>();
    value.results = in.number<std::uint32_t>();
    millrace::decode(in, value.has_rows);
    millrace::decode(in, value.has_ended);
    millrace::decode(in, value.state);
    millrace::decode(in, value.trigger);
  }
  static std::string shape() {
    return "window of {" + millrace::shape<S>() + ", " + millrace::shape<TriggerMemory<Tr>>() + "}";
  }
};

/// The windows alone: what the indices hold is derived.
template <class S, class Tr>
struct Codec<KeyWindows<S, Tr>> {
  static void encode(Encoder& out, const KeyWindows<S, Tr>& value) {
    millrace::encode(out, value.open);
  }
  static void decode(Decoder& in, KeyWindows<S, Tr>& value) { millrace::decode(in, value.open); }
  static std::string shape() { return millrace::shape<Few<OpenWindow<S, Tr>>>(); }
};

}  // namespace millrace
