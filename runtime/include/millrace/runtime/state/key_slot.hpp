#pragma once

#include <cstdint>
#include <type_traits>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/state/codec.hpp"

namespace millrace {

/// A time at which something is due for a key. Part of the key's entry.
struct Alarm {
  EventTime at = EventTime::max();       ///< The largest time: asleep.
  EventTime indexed = EventTime::max();  ///< Where an index has it; never behind `at`. Not saved.

  bool is_set() const { return at != EventTime::max(); }
};

/// In the place of an alarm that is never set.
struct NoAlarm {};

/// What a keyed function remembers of a key: the user's state, and up to three times. Those that a
/// function has no use for take no room.
template <class S, bool rings, bool rings_at_wall, bool expires>
struct KeySlot {
  S state{};
  [[no_unique_address]] std::conditional_t<rings, Alarm, NoAlarm> alarm;
  [[no_unique_address]] std::conditional_t<rings_at_wall, Alarm, NoAlarm> wall_alarm;
  [[no_unique_address]] std::conditional_t<expires, Alarm, NoAlarm> touched;
};

/// A byte that says which times are set, those, and the state. The same whichever times a function
/// uses: one may get an alarm, or a time to live, and still read what it wrote before.
template <class S, bool rings, bool rings_at_wall, bool expires>
struct Codec<KeySlot<S, rings, rings_at_wall, expires>> {
  using Slot = KeySlot<S, rings, rings_at_wall, expires>;

  static void encode(Encoder& out, const Slot& slot) {
    out.number(static_cast<std::uint8_t>(is_set(slot.alarm) | is_set(slot.wall_alarm) << 1 |
                                         is_set(slot.touched) << 2));
    write(out, slot.alarm);
    write(out, slot.wall_alarm);
    write(out, slot.touched);
    millrace::encode(out, slot.state);
  }
  static void decode(Decoder& in, Slot& slot) {
    const auto set = in.number<std::uint8_t>();
    if (set > 7) throw CorruptBytes("an entry has times that nobody knows");
    read(in, set & 1, slot.alarm);
    read(in, set & 2, slot.wall_alarm);
    read(in, set & 4, slot.touched);
    millrace::decode(in, slot.state);
  }
  static std::string shape() { return millrace::shape<S>() + " with alarms"; }

 private:
  static int is_set(const Alarm& alarm) { return alarm.is_set() ? 1 : 0; }
  static int is_set(NoAlarm) { return 0; }
  static void write(Encoder& out, const Alarm& alarm) {
    if (alarm.is_set()) out.number(alarm.at.ms);
  }
  static void write(Encoder&, NoAlarm) {}
  static void read(Decoder& in, int is_set, Alarm& alarm) {
    alarm = {};
    if (is_set != 0) alarm.at.ms = in.number<std::int64_t>();
  }
  static void read(Decoder& in, int is_set, NoAlarm&) {
    if (is_set != 0) in.number<std::int64_t>();
  }
};

}  // namespace millrace
