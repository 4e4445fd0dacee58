#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/held_spans.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {

/// Folds rows of one key before they are sent: the end of a run of steps in front of windows. Where
/// keys come again soon, most rows go no further than a table that fits into the first-level cache.
///
/// Changes no result. Which rows may go as one, and until which watermark, HeldSpans says for each
/// kind of window; besides, what is held leaves at a barrier, when there is nothing to read, every
/// so many batches, and before the stream falls idle. So nothing becomes late for having been held.
/// Rows that may be late already go alone, each with its own late result. Only a stream that wakes
/// up behind others that went on, whose rows are late or not as clocks will have it, may be late in
/// larger pieces.
///
/// Where keys do not come again, holding rows costs more than sending them: after as few thousand
/// rows as show it, everything goes alone for a while.
template <class K, class A, class KeyOf, class Windows>
class CombiningWriter {
  using State = typename A::State;
  using Spans = HeldSpans<Windows>;
  using Span = typename Spans::Span;
  struct Place {
    Span span;
    K key{};
    State state{};
    std::uint32_t rows = 0;  ///< 0: the place is free.
  };
  /// What a place held is sent: its state moves out.
  struct Leaving {
    Place& place;
  };
  struct KeyOfLeaving {
    const K& operator()(const Leaving& leaving) const { return leaving.place.key; }
  };
  struct PartOfLeaving {
    auto operator()(const Leaving& leaving) const {
      Place& place = leaving.place;
      return Spans::part(place.span, std::move(place.state), place.rows);
    }
  };

 public:
  using Part = typename Spans::template Part<State>;

  /// Whether states can be held in a table of few bytes, and stay as small.
  static constexpr bool is_worth_it = std::is_trivially_copyable_v<K> && sizeof(Place) <= 64 &&
                                      (std::is_trivially_copyable_v<State> || Shrinking<A>);

  CombiningWriter(KeyOf key_of, A fold, Windows windows)
      : key_of_(std::move(key_of)),
        fold_(std::move(fold)),
        spans_(windows),
        inner_({}, {}),
        places_(place_count) {}

  template <class To>
  class Pen {
   public:
    Pen(CombiningWriter& writer, To& to)
        : writer_(writer),
          to_(to),
          cursor_(writer.spans_, writer.holds() ? writer.watermark_ : EventTime::max()) {}
    Pen(const Pen&) = delete;
    Pen& operator=(const Pen&) = delete;
    ~Pen() {
      writer_.rows_ += rows_;
      const bool is_held = has_begun_ || writer_.drain_at_ < EventTime::max();
      if (is_held) writer_.drain_at_ = std::min(writer_.drain_at_, cursor_.until());
    }

    template <class T>
    [[gnu::always_inline]] void add(EventTime time, T&& row) {
      ++rows_;
      const K key = std::invoke(writer_.key_of_, std::as_const(row));
      if (!cursor_.may_hold(time)) [[unlikely]] {
        Place alone{cursor_.begin(time), key, State{}, 1};
        writer_.fold_.add(alone.state, writer_.fold_.pick(std::as_const(row)));
        return send(alone, to_);
      }
      Place& place = writer_.places_[hash_key(key) >> place_shift];
      if (place.rows == 0 || !(place.key == key) || !cursor_.fits(place.span, time)) [[unlikely]] {
        if (place.rows != 0) {
          ++writer_.sent_;
          send(place, to_);
        }
        has_begun_ = true;
        place = {cursor_.begin(time), key, State{}, 0};
      }
      cursor_.extend(place.span, time);
      writer_.fold_.add(place.state, writer_.fold_.pick(std::as_const(row)));
      ++place.rows;
    }

   private:
    // Static: what it is not given it cannot change, and the pen stays in registers.
    [[gnu::noinline]] static void send(Place& place, To& to) {
      to.add(Spans::time_of(place.span), Leaving{place});
    }

    CombiningWriter& writer_;
    To& to_;
    typename Spans::Cursor cursor_;
    bool has_begun_ = false;  ///< A place holds something that it did not.
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

  /// Until the first watermark nobody knows what is late behind it: state that came back does.
  bool holds() const { return rests_ == 0 && watermark_ > EventTime::min(); }
  void drain() {
    if (drain_at_ == EventTime::max()) return;
    drain_at_ = EventTime::max();
    inner_.write([&](auto& to) {
      for (Place& place : places_) {
        if (place.rows == 0) continue;
        ++sent_;
        to.add(Spans::time_of(place.span), Leaving{place});
        place.rows = 0;
      }
    });
  }

  KeyOf key_of_;
  A fold_;
  Spans spans_;
  KeyedWriter<K, Part, KeyOfLeaving, PartOfLeaving> inner_;
  std::vector<Place> places_;  ///< By the high bits of the key's hash.
  EventTime watermark_ = EventTime::min();
  EventTime drain_at_ = EventTime::max();  ///< When what is held must leave; max: nothing is.
  std::uint32_t rows_ = 0;                 ///< Since the last choice,
  std::uint32_t sent_ = 0;                 ///< and what they made of held rows.
  int rests_ = 0;
};

}  // namespace millrace
