#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/state/key_hash.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// Folds rows of one key and pane before they are sent: the end of a run of steps in front of
/// windows that share panes. Where keys come again soon, most rows go no further than a table that
/// fits into the first-level cache.
///
/// Changes no result. What is held belongs to panes of which no window has ended by this writer's
/// own watermark, and leaves before one does, at a barrier, and before the stream falls idle; so
/// nothing becomes late for having been held. Rows that may be late already go alone, each with its
/// own late result. Only a stream that wakes up behind others that went on, whose rows are late or
/// not as clocks will have it, may be late in larger pieces.
///
/// Where keys do not come again, holding rows costs more than sending them: after as few thousand
/// rows as show it, everything goes alone for a while.
template <class K, class A, class KeyOf>
class CombiningWriter {
  using State = typename A::State;
  struct Place {
    EventTime pane;
    K key{};
    State state{};
    std::uint32_t rows = 0;  ///< 0: the place is free.
  };
  struct KeyOfPlace {
    const K& operator()(const Place& place) const { return place.key; }
  };
  struct PartialOf {
    Partial<State> operator()(const Place& place) const { return {place.state, place.rows}; }
  };

 public:
  /// Whether states can be held in a table of plain bytes that are few.
  static constexpr bool is_worth_it =
      std::is_trivially_copyable_v<K> && std::is_trivially_copyable_v<State> && sizeof(Place) <= 64;

  CombiningWriter(KeyOf key_of, A fold, Sliding windows)
      : key_of_(std::move(key_of)),
        fold_(std::move(fold)),
        windows_(windows),
        pane_length_(windows.pane()),
        inner_({}, {}),
        places_(place_count) {}

  template <class To>
  class Pen {
   public:
    Pen(CombiningWriter& writer, To& to) : writer_(writer), to_(to) {}
    Pen(const Pen&) = delete;
    Pen& operator=(const Pen&) = delete;
    ~Pen() { writer_.rows_ += rows_; }

    template <class T>
    [[gnu::always_inline]] void add(EventTime time, T&& row) {
      if (!has_pane_ ||
          static_cast<std::uint64_t>(time.ms) - static_cast<std::uint64_t>(pane_.ms) >=
              static_cast<std::uint64_t>(writer_.pane_length_.count())) [[unlikely]] {
        has_pane_ = true;
        pane_ = writer_.windows_.pane_start(time);
        is_held_ = writer_.may_hold(pane_);
      }
      ++rows_;
      const K key = std::invoke(writer_.key_of_, std::as_const(row));
      if (!is_held_) [[unlikely]] {
        Place alone{pane_, key, State{}, 1};
        writer_.fold_.add(alone.state, writer_.fold_.pick(std::as_const(row)));
        to_.add(pane_, alone);
        return;
      }
      Place& place = writer_.places_[hash_key(key) >> place_shift];
      if (place.rows == 0 || place.pane != pane_ || !(place.key == key)) [[unlikely]] {
        if (place.rows != 0) {
          ++writer_.sent_;
          to_.add(place.pane, place);
        }
        place = {pane_, key, State{}, 0};
      }
      writer_.fold_.add(place.state, writer_.fold_.pick(std::as_const(row)));
      ++place.rows;
    }

   private:
    CombiningWriter& writer_;
    To& to_;
    EventTime pane_;
    bool has_pane_ = false;
    bool is_held_ = false;
    std::uint32_t rows_ = 0;
  };

  template <class Loop>
  void write(Loop&& loop) {
    inner_.write([&](auto& to) {
      Pen<std::remove_reference_t<decltype(to)>> pen(*this, to);
      loop(pen);
    });
    if (rows_ < rows_between_choices) return;
    // Made of counts: a choice of speed, and of nothing else.
    if (rests_ > 0) {
      --rests_;
    } else if (2 * sent_ > rows_) {
      drain();
      rests_ = choices_at_rest;
    }
    rows_ = 0;
    sent_ = 0;
  }
  void watermark(EventTime time) {
    if (time >= drain_at_) drain();
    watermark_ = std::max(watermark_, time);
    inner_.watermark(time);
  }
  void flush() {
    drain();
    inner_.flush();
  }
  void set_idle(bool is_idle) {
    drain();
    inner_.set_idle(is_idle);
  }
  void link(Way way, Stage& next) { inner_.link(way, next); }

 private:
  static constexpr std::size_t place_count = 512;
  static constexpr int place_shift = 64 - 9;
  static constexpr std::uint32_t rows_between_choices = 4096;
  static constexpr int choices_at_rest = 16;
  static_assert(place_count == std::size_t{1} << (64 - place_shift));

  /// Whether rows of this pane may be held until a watermark says otherwise.
  bool may_hold(EventTime pane) {
    // Until the first watermark nobody knows what is late behind it: state that came back does.
    if (rests_ > 0 || watermark_ == EventTime::min()) return false;
    const EventTime first_end = last_instant(windows_.first_window(pane));
    if (first_end <= watermark_) return false;
    drain_at_ = std::min(drain_at_, first_end);
    return true;
  }
  void drain() {
    if (drain_at_ == EventTime::max()) return;
    drain_at_ = EventTime::max();
    inner_.write([&](auto& to) {
      for (Place& place : places_) {
        if (place.rows == 0) continue;
        ++sent_;
        to.add(place.pane, place);
        place.rows = 0;
      }
    });
  }

  KeyOf key_of_;
  A fold_;
  Sliding windows_;
  Duration pane_length_;
  KeyedWriter<K, Partial<State>, KeyOfPlace, PartialOf> inner_;
  std::vector<Place> places_;  ///< By the high bits of the key's hash.
  EventTime watermark_ = EventTime::min();
  EventTime drain_at_ = EventTime::max();  ///< The first end of what is held; max: nothing is.
  std::uint32_t rows_ = 0;                 ///< Since the last choice,
  std::uint32_t sent_ = 0;                 ///< and what they made of held rows.
  int rests_ = 0;
};

}  // namespace millrace
