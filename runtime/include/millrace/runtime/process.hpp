#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/env/event_time.hpp"
#include "millrace/runtime/batch.hpp"
#include "millrace/runtime/flow/watched.hpp"
#include "millrace/runtime/state/key_alarms.hpp"
#include "millrace/runtime/state/key_slot.hpp"

namespace millrace {

/// A key's place: its state, its alarms, and the time. Good only while the function that got it
/// runs.
template <class K, class S>
class KeyContext {
 public:
  const K& key() const { return *key_; }

  /// The key's state; a fresh S when the key is new. Part of the checkpoint, whatever is done to
  /// it.
  S& state() { return *state_; }

  /// The event time of the row, or of the alarm, that is being handled. While a wall clock's alarm
  /// is: the first instant behind the watermark.
  EventTime time() const { return time_; }
  /// No row at or before it follows, unless it is late. The largest time: the input has ended.
  EventTime watermark() const { return watermark_; }

  /// Sets the key's alarm: `on_alarm` runs once, when the watermark reaches `when`; if it has, with
  /// the next one.
  ///
  /// A key has one alarm. Setting it again moves it, at the cost of a store, so "ten seconds after
  /// the last row" is `wake(time() + 10s)` on every row. Several deadlines live in State, with the
  /// alarm at the nearest. When the input ends every alarm rings, also those that `on_alarm` sets
  /// then: who always sets another asks `watermark()` whether there will be anything to do.
  void wake(EventTime when) {
    if (alarm_ == nullptr) throw std::logic_error("wake: the function has no on_alarm");
    alarms_->set(*alarm_, when, *key_);
  }
  void sleep() {
    if (alarm_ != nullptr) alarm_->at = EventTime::max();
  }
  /// When it rings; the largest time: it does not.
  EventTime alarm() const { return alarm_ == nullptr ? EventTime::max() : alarm_->at; }

  /// What the node's wall clock says. It may be wrong and jump, and says something else when rows
  /// are read again after a failure: what depends on it is not repeatable.
  EventTime wall() {
    asked_for_wall_ = true;
    return env_->clock.wall();
  }
  /// The same as `wake`, by the wall clock, with `on_wall_alarm`. One that is set in the past, or
  /// was missed while the job did not run, rings at once.
  void wake_at_wall(EventTime when) {
    if (wall_alarm_ == nullptr) {
      throw std::logic_error("wake_at_wall: the function has no on_wall_alarm");
    }
    wall_alarms_->set(*wall_alarm_, when, *key_);
  }
  void sleep_at_wall() {
    if (wall_alarm_ != nullptr) wall_alarm_->at = EventTime::max();
  }

  /// Has `service` do something outside of the stream, at once and at least once: after a failure
  /// the record is processed again, and asks again. `once_key` is what the service knows it by, so
  /// that it does it once; without one it is done twice, and a trial says so (judge `effects`).
  /// What a function does outside of this call nobody sees.
  ///
  /// Throws what the service does, and JobFailed if there is none (UserJob::services).
  void effect(std::string_view service, std::string_view request, std::string_view once_key = {}) {
    const std::uint64_t cause = ValueHash().add(*key_).add(time_).add(effects_++).finish();
    env_->user_code.execute(env_->role, {service, request, once_key, cause});
  }

  /// Drops the key with its state and alarms when the function returns.
  void forget() { is_forgotten_ = true; }

  /// Counts the row that is being handled as late, for a function that drops what comes too late
  /// (`time() <= watermark()`).
  void count_late() { ++late_; }

 private:
  template <class, class, class>
  friend class KeyedFunction;

  const K* key_ = nullptr;
  S* state_ = nullptr;
  Alarm* alarm_ = nullptr;
  Alarm* wall_alarm_ = nullptr;
  EventTime time_;
  EventTime watermark_;
  bool is_forgotten_ = false;
  bool asked_for_wall_ = false;
  std::uint64_t late_ = 0;
  std::uint64_t effects_ = 0;  ///< That this call of the function asked for.
  KeyAlarms<K>* alarms_ = nullptr;
  KeyAlarms<K, WallAlarmIndex<K>>* wall_alarms_ = nullptr;
  const Env* env_ = nullptr;
};

/// Where a function leaves its rows. They carry `time()` unless another time is given; one at or
/// before the watermark is late for whoever follows.
template <class Out>
class Emit {
 public:
  void operator()(Out row) { at(time_, std::move(row)); }
  void at(EventTime time, Out row) {
    rows_.add(time, std::move(row));
    if (rows_.full()) full_.push_back(std::move(rows_));
  }

 private:
  template <class, class, class>
  friend class KeyedFunction;

  EventTime time_;
  Batch<Out> rows_;
  /// Batches wait until the function has returned: nothing of others runs inside it, and what it
  /// throws is its own.
  std::vector<Batch<Out>> full_;
};

/// A function of rows and state, per key.
///
///     /// Counts a bidder's bids until ten seconds pass without one.
///     struct CountSession {
///       struct State { EventTime last; std::int64_t bids = 0; };
///       using Output = Session;
///       void on_record(const Bid& bid, KeyContext<std::int64_t, State>& here,
///                      Emit<Session>& out) const {
///         here.state().last = std::max(here.state().last, here.time());
///         ++here.state().bids;
///         here.wake(here.state().last + 10s);
///       }
///       void on_alarm(KeyContext<std::int64_t, State>& here, Emit<Session>& out) const {
///         out({here.key(), here.state().last, here.state().bids});
///         here.forget();
///       }
///     };
///
/// `on_alarm` and `on_wall_alarm` are there if the function wants alarms. Output may be a
/// std::variant, which `.only<A>()` takes apart: so a function has as many outputs as it likes.
/// State is anything that has a Codec: numbers, texts, lists, maps, sets, and structs of them.
///
/// Five rules:
/// 1. All memory is in State. The function is copied for each subtask and called const.
/// 2. What it does follows from row, state and time. A random number or the wall clock says
///    something else when the job repeats rows after a failure.
/// 3. Alarms ring by time; those of one time by key. One key's rows and alarms keep their order.
/// 4. No reference to state, row or context is kept beyond the call.
/// 5. A function that throws a std::exception ends its task with FunctionFailed, which names
///    operator, key and event time. The job restarts, and ends as failed when the same error comes
///    back at the same place for the third time. A WorldError passes as it is, and restarts the
///    job; a JobFailed is named in the same way, and ends it at once.
template <class P, class K, class T>
concept KeyedProcess = std::default_initializable<typename P::State> &&
                       requires(const P& p, const T& row, KeyContext<K, typename P::State>& here,
                                Emit<typename P::Output>& out) { p.on_record(row, here, out); };

/// The same for rows of two streams with one key and one state.
template <class P, class K, class L, class R>
concept KeyedPairProcess =
    std::default_initializable<typename P::State> &&
    requires(const P& p, const L& left, const R& right, KeyContext<K, typename P::State>& here,
             Emit<typename P::Output>& out) {
      p.on_left(left, here, out);
      p.on_right(right, here, out);
    };

/// The same with a value that every subtask knows, made of the rows of a control stream by
/// `on_broadcast`; `on_alarm` and `on_wall_alarm` get it behind the context.
///
/// Rows of the control stream count when they come, and those of one partition come to every
/// subtask in the same order. For rows of different partitions that order does not exist: what
/// `on_broadcast` makes of them must not depend on it. Then the value is the same on all subtasks
/// at every checkpoint. Each of them saves it, and a restart that finds two that differ ends the
/// job with a UsageError.
template <class P, class K, class T, class C>
concept BroadcastProcess =
    std::default_initializable<typename P::State> &&
    std::default_initializable<typename P::Broadcast> &&
    requires(const P& p, const T& row, const C& control, typename P::Broadcast& broadcast,
             const typename P::Broadcast& known, KeyContext<K, typename P::State>& here,
             Emit<typename P::Output>& out) {
      p.on_broadcast(control, broadcast);
      p.on_record(row, here, known, out);
    };

/// How long a keyed function remembers a key that nothing happens to.
struct Forever {};
struct KeepFor {
  Duration span;
};

}  // namespace millrace
