#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

/// Which rows of one key may be folded before they are sent, for windows of each kind, and how long
/// what they make may be held so that no result shows it. Every kind has:
///
/// - `Span`: where in time the rows lie that go as one, and `time_of(span)`, which they go with.
/// - `Part<S>`: what is sent of them, and `part` to make it.
/// - `Cursor`: looks at rows while the stream's own watermark stays where it is, or holds none if
///   it is told the largest. After `may_hold(time)` has said yes the row may `begin` a span or, if
///   it `fits`, `extend` one; what was held must leave before a watermark gets to `until`.
///
/// The receiver's watermark is never ahead of that of an active sender. So what is held by the
/// sender's watermark is on time by the receiver's, whenever it comes.
template <class Windows>
class HeldSpans;

/// Rows of one pane: until the first window ends that covers it.
template <>
class HeldSpans<Sliding> {
 public:
  struct Span {
    EventTime pane;
  };
  template <class S>
  using Part = Partial<S>;

  explicit HeldSpans(Sliding windows) : windows_(windows), pane_length_(windows.pane()) {}

  static EventTime time_of(Span span) { return span.pane; }
  template <class S>
  static Part<S> part(Span, S state, std::uint32_t rows) {
    return {std::move(state), rows};
  }

  class Cursor {
   public:
    Cursor(const HeldSpans& spans, EventTime watermark) : spans_(spans), watermark_(watermark) {}

    [[gnu::always_inline]] bool may_hold(EventTime time) {
      if (static_cast<std::uint64_t>(time.ms) - static_cast<std::uint64_t>(pane_.ms) >= length_)
          [[unlikely]] {
        pane_ = spans_.windows_.pane_start(time);
        length_ = static_cast<std::uint64_t>(spans_.pane_length_.count());
        const EventTime first_end = last_instant(spans_.windows_.first_window(pane_));
        is_held_ = watermark_ < first_end;
        if (is_held_) until_ = std::min(until_, first_end);
      }
      return is_held_;
    }
    Span begin(EventTime) const { return {pane_}; }
    bool fits(Span span, EventTime) const { return span.pane == pane_; }
    void extend(Span&, EventTime) const {}
    EventTime until() const { return until_; }

   private:
    const HeldSpans& spans_;
    EventTime watermark_;
    EventTime pane_;
    std::uint64_t length_ = 0;  ///< Of the pane; 0: none has been looked at.
    bool is_held_ = false;
    EventTime until_ = EventTime::max();
  };

 private:
  Sliding windows_;
  Duration pane_length_;
};

/// Rows that are in one session, whatever others there are: none is further than the gap from the
/// next.
///
/// A session that such a row belongs to ends when the watermark is an instant before the row at the
/// earliest: the row may be just the gap behind the last. So it must leave before.
template <>
class HeldSpans<Sessions> {
 public:
  struct Span {
    EventTime first;
    EventTime last;
  };
  template <class S>
  using Part = SessionPart<S>;

  explicit HeldSpans(Sessions windows) : gap_(windows.gap) {}

  static EventTime time_of(Span span) { return span.first; }
  template <class S>
  static Part<S> part(Span span, S state, std::uint32_t rows) {
    return {std::move(state), rows, span.last};
  }

  class Cursor {
   public:
    Cursor(const HeldSpans& spans, EventTime watermark) : gap_(spans.gap_), watermark_(watermark) {}

    bool may_hold(EventTime time) {
      if (time - instant <= watermark_) [[unlikely]] {
        return false;
      }
      first_ = std::min(first_, time);
      return true;
    }
    Span begin(EventTime time) const { return {time, time}; }
    bool fits(Span span, EventTime time) const {
      return span.first - gap_ <= time && time <= span.last + gap_;
    }
    void extend(Span& span, EventTime time) const {
      span.first = std::min(span.first, time);
      span.last = std::max(span.last, time);
    }
    EventTime until() const { return first_ == EventTime::max() ? first_ : first_ - instant; }

   private:
    static constexpr Duration instant{1};

    Duration gap_;
    EventTime watermark_;
    EventTime first_ = EventTime::max();
  };

 private:
  Duration gap_;
};

/// All rows: until the input ends.
template <>
class HeldSpans<Global> {
 public:
  struct Span {
    EventTime time;  ///< Of one of them.
  };
  template <class S>
  using Part = Partial<S>;

  explicit HeldSpans(Global) {}

  static EventTime time_of(Span span) { return span.time; }
  template <class S>
  static Part<S> part(Span, S state, std::uint32_t rows) {
    return {std::move(state), rows};
  }

  class Cursor {
   public:
    Cursor(const HeldSpans&, EventTime watermark) : is_open_(watermark < end) {}

    bool may_hold(EventTime) const { return is_open_; }
    Span begin(EventTime time) const { return {time}; }
    bool fits(Span, EventTime) const { return true; }
    void extend(Span&, EventTime) const {}
    EventTime until() const { return end; }

   private:
    static constexpr EventTime end = last_instant(Global::window());

    bool is_open_;
  };
};

}  // namespace millrace
