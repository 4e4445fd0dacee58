#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "millrace/env/clock.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// What becomes of a window after a row, or at a moment. To fire is to let its result out; to purge
/// is to forget its rows, and nothing else (WL-6). A window without rows lets nothing out.
enum class Firing : std::uint8_t { go_on, fire, purge, fire_and_purge };

/// The node's wall clock, read once until it is forgotten: all rows of a batch see one time.
class WallReading {
 public:
  explicit WallReading(Clock& clock) : clock_(clock) {}
  EventTime time() {
    if (!read_) read_ = clock_.wall();
    return *read_;
  }
  void set(EventTime time) { read_ = time; }
  void forget() { read_.reset(); }

 private:
  Clock& clock_;
  std::optional<EventTime> read_;
};

/// A window as its trigger sees it. Good only while the function that got it runs.
template <class S>
class TriggerContext {
 public:
  TriggerContext(S& state, Window window, EventTime time, EventTime watermark, EventTime& alarm,
                 EventTime& wall_alarm, WallReading& wall)
      : state_(state),
        window_(window),
        time_(time),
        watermark_(watermark),
        alarm_(alarm),
        wall_alarm_(wall_alarm),
        wall_(wall) {}

  /// The trigger's own, per key and window; a fresh S at first. Purging leaves it as it is.
  S& state() { return state_; }
  Window window() const { return window_; }
  /// The event time of the row, or the moment that the call is about.
  EventTime time() const { return time_; }
  EventTime watermark() const { return watermark_; }
  /// Whether the watermark has reached the window's last instant: a row that comes now is late.
  bool has_ended() const { return last_instant(window_) <= watermark_; }
  /// The node's wall clock when the batch of this row was taken up. Nothing that must come out the
  /// same again after a crash can depend on it.
  EventTime wall() { return wall_.time(); }

  /// Sets the window's alarm: `on_alarm` is called once, when the watermark reaches `when`.
  ///
  /// A window has one; setting it again moves it. One at the window's last instant is `on_time`
  /// and no other call, one behind the window's clean-up never rings, and one for a moment that
  /// has passed rings with the next watermark.
  void wake(EventTime when) { alarm_ = when; }
  /// The same by the node's wall clock: `on_wall_alarm`.
  void wake_at_wall(EventTime when) { wall_alarm_ = when; }
  bool has_wall_alarm() const { return wall_alarm_ != EventTime::max(); }

 private:
  S& state_;
  Window window_;
  EventTime time_;
  EventTime watermark_;
  EventTime& alarm_;
  EventTime& wall_alarm_;
  WallReading& wall_;
};

/// Decides when windows fire.
///
///     struct FullAt {
///       std::int64_t rows;
///       struct State { std::int64_t seen = 0; };
///       Firing on_row(TriggerContext<State>& here) const {
///         return ++here.state().seen % rows == 0 ? Firing::fire : Firing::go_on;
///       }
///       void merge(State& into, const State& other) const { into.seen += other.seen; }
///     };
///
/// All memory is in State; the members are const. `on_row` is called when the row is in the fold.
/// With the row as its first parameter, `on_row(const Bid& bid, here)`, it sees that too, and whole
/// rows travel to the task that holds the key. The rest is optional:
///
/// - `on_time(here)`: the watermark has reached the window's last instant. Once a window.
/// - `on_alarm(here)`, `on_wall_alarm(here)`: an alarm that it set.
/// - `merge(State& into, const State& other)`: two sessions have become one; `on_row`, for the row
///   between them, comes after it. Of their alarms the earliest stays. Sessions require it, unless
///   State has no members.
/// - `static constexpr bool counts_rows = false`: it does not matter how many rows come and when,
/// as
///   long as there was one. Then rows that come one after another may be folded first, and `on_row`
///   is called once for several, with a time that is none's in particular. Not for a trigger that
///   sees rows, or has an `on_alarm`.
template <class Tr, class T>
concept WindowTrigger =
    std::default_initializable<typename Tr::State> &&
    (
        requires(const Tr& trigger, TriggerContext<typename Tr::State>& here) {
          { trigger.on_row(here) } -> std::same_as<Firing>;
        } ||
        requires(const Tr& trigger, const T& row, TriggerContext<typename Tr::State>& here) {
          { trigger.on_row(row, here) } -> std::same_as<Firing>;
        });

/// Whether a trigger looks at rows of T.
template <class Tr, class T>
concept SeesRows =
    requires(const Tr& trigger, const T& row, TriggerContext<typename Tr::State>& here) {
      trigger.on_row(row, here);
    };
template <class Tr>
concept HasOnTime = requires(const Tr& trigger, TriggerContext<typename Tr::State>& here) {
  { trigger.on_time(here) } -> std::same_as<Firing>;
};
template <class Tr>
concept HasAlarm = requires(const Tr& trigger, TriggerContext<typename Tr::State>& here) {
  { trigger.on_alarm(here) } -> std::same_as<Firing>;
};
template <class Tr>
concept HasWallAlarm = requires(const Tr& trigger, TriggerContext<typename Tr::State>& here) {
  { trigger.on_wall_alarm(here) } -> std::same_as<Firing>;
};
template <class Tr>
concept MergesStates = std::is_empty_v<typename Tr::State> ||
                       requires(const Tr& trigger, typename Tr::State& into,
                                const typename Tr::State& other) { trigger.merge(into, other); };

/// Whether a trigger can be asked once for several rows.
template <class Tr, class T>
concept AskedOnce = requires { requires !Tr::counts_rows; } && !SeesRows<Tr, T> && !HasAlarm<Tr>;

namespace triggers {

/// When the window has ended, and again at each row that is late and allowed to be (WL-4).
struct AtEnd {
  using State = Nothing;
  static constexpr bool counts_rows = false;
  Firing on_row(TriggerContext<State>& here) const {
    return here.has_ended() ? Firing::fire : Firing::go_on;
  }
  Firing on_time(TriggerContext<State>&) const { return Firing::fire; }
};

/// At every n-th row of a key and window, and at no other time.
struct EveryRows {
  std::int64_t rows;
  struct State {
    std::int64_t waiting = 0;
  };
  Firing on_row(TriggerContext<State>& here) const {
    if (++here.state().waiting < rows) return Firing::go_on;
    here.state().waiting = 0;
    return Firing::fire;
  }
  void merge(State& into, const State& other) const { into.waiting += other.waiting; }
};

/// At every n-th row until the window has ended, then as AtEnd.
struct EarlyRows {
  EveryRows early;
  using State = EveryRows::State;
  Firing on_row(TriggerContext<State>& here) const {
    return here.has_ended() ? Firing::fire : early.on_row(here);
  }
  Firing on_time(TriggerContext<State>&) const { return Firing::fire; }
  void merge(State& into, const State& other) const { early.merge(into, other); }
};

/// A span of wall-clock time after the first row that has not come out, and at the window's end.
struct EveryWall {
  Duration span;
  static constexpr bool counts_rows = false;
  struct State {
    bool is_waiting = false;  ///< There are rows that have not come out.
  };
  Firing on_row(TriggerContext<State>& here) const {
    here.state().is_waiting = true;
    if (here.has_ended()) return fire(here);
    if (!here.has_wall_alarm()) here.wake_at_wall(here.wall() + span);
    return Firing::go_on;
  }
  Firing on_time(TriggerContext<State>& here) const { return fire(here); }
  Firing on_wall_alarm(TriggerContext<State>& here) const { return fire(here); }
  void merge(State& into, const State& other) const { into.is_waiting |= other.is_waiting; }

 private:
  static Firing fire(TriggerContext<State>& here) {
    if (!here.state().is_waiting) return Firing::go_on;
    here.state().is_waiting = false;
    return Firing::fire;
  }
};

}  // namespace triggers

/// See the types. Throw UsageError: less than one row; a span that is not positive.
triggers::EveryRows every_rows(std::int64_t rows);
triggers::EarlyRows early_rows(std::int64_t rows);
triggers::EveryWall every_wall(Duration span);

}  // namespace millrace
