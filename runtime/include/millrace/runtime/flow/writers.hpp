#pragma once

#include <array>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {

// Ends of a run of fused steps. A writer collects rows for the next stages; its Pen is a place to
// write while a loop runs. The two pointers of a pen live in the loop and so in registers, and the
// number of rows is told once, in its destructor: together worth a factor of three over push_back.

/// Collects rows for the stages that follow in the same task, or in one lane.
template <class Out>
class PlainWriter {
 public:
  class Pen {
   public:
    explicit Pen(PlainWriter& writer)
        : writer_(writer),
          at_(writer.rows_.space() + writer.rows_.size()),
          stop_(writer.rows_.space() + Batch<Out>::room()) {}
    Pen(const Pen&) = delete;
    Pen& operator=(const Pen&) = delete;
    ~Pen() {
      // Null: `full` threw, and the rows may belong to a message already.
      if (at_ != nullptr) writer_.rows_.made(at_);
    }

    template <class V>
    [[gnu::always_inline]] void add(EventTime time, V&& value) {
      ::new (static_cast<void*>(at_)) Record<Out>{time, std::forward<V>(value)};
      if (++at_ == stop_) [[unlikely]] {
        at_ = writer_.full(std::exchange(at_, nullptr));
        stop_ = at_ + Batch<Out>::room();
      }
    }

   private:
    PlainWriter& writer_;
    Record<Out>* at_;
    Record<Out>* stop_;
  };

  /// Runs `loop(pen)` and hands on what it wrote.
  template <class Loop>
  void write(Loop&& loop) {
    {
      Pen pen(*this);
      loop(pen);
    }
    outlet_.send(rows_);
  }
  void watermark(EventTime time) {
    outlet_.send(rows_);
    outlet_.watermark(time);
  }
  void set_idle(bool is_idle) {
    outlet_.send(rows_);
    outlet_.set_idle(is_idle);
  }
  void flush() {
    outlet_.send(rows_);
    outlet_.flush();
  }
  /// With several lanes every row goes into each: a broadcast.
  void link(Way, Stage& next) { outlet_.add(next); }

 private:
  [[gnu::noinline]] Record<Out>* full(Record<Out>* end) {
    rows_.made(end);
    outlet_.send(rows_);
    return rows_.space();
  }

  Batch<Out> rows_;
  Outlet<Out> outlet_;
};

/// A key, and what the operator behind the exchange needs of a row.
template <class K, class V>
struct Keyed {
  K key;
  [[no_unique_address]] V value;
};

/// Cuts rows down to key and value, and sends each to the lane that owns its key's group.
template <class K, class V, class KeyOf, class Pick>
class KeyedWriter {
  using Row = Keyed<K, V>;

 public:
  KeyedWriter(KeyOf key_of, Pick pick) : key_of_(std::move(key_of)), pick_(std::move(pick)) {}

  /// For one consumer: no lanes to choose from.
  class Pen {
   public:
    explicit Pen(KeyedWriter& writer)
        : writer_(writer),
          at_(writer.only_.space() + writer.only_.size()),
          stop_(writer.only_.space() + Batch<Row>::room()) {}
    Pen(const Pen&) = delete;
    Pen& operator=(const Pen&) = delete;
    ~Pen() {
      if (at_ != nullptr) writer_.only_.made(at_);
    }

    template <class T>
    [[gnu::always_inline]] void add(EventTime time, T&& value) {
      ::new (static_cast<void*>(at_))
          Record<Row>{time,
                      {std::invoke(writer_.key_of_, std::as_const(value)),
                       writer_.pick_(std::as_const(value))}};
      if (++at_ == stop_) [[unlikely]] {
        at_ = writer_.full(std::exchange(at_, nullptr));
        stop_ = at_ + Batch<Row>::room();
      }
    }

   private:
    KeyedWriter& writer_;
    Record<Row>* at_;
    Record<Row>* stop_;
  };

  /// For several: a batch for each lane.
  class Pens {
   public:
    explicit Pens(KeyedWriter& writer) : writer_(writer) {}

    template <class T>
    [[gnu::always_inline]] void add(EventTime time, T&& value) {
      K key = std::invoke(writer_.key_of_, std::as_const(value));
      Lane& lane = writer_.lanes_[writer_.owners_[group_of(hash_key(key))]];
      lane.rows.add(time, Row{std::move(key), writer_.pick_(std::as_const(value))});
      if (lane.rows.full()) [[unlikely]] {
        writer_.send(lane);
      }
    }

   private:
    KeyedWriter& writer_;
  };

  template <class Loop>
  void write(Loop&& loop) {
    if (lanes_.size() == 1) {
      {
        Pen pen(*this);
        loop(pen);
      }
      lanes_[0].outlet.send(only_);
    } else {
      Pens pens(*this);
      loop(pens);
    }
  }

  /// A watermark waits for the rows before it in each lane and travels with them; `flush` sends it
  /// where there are none.
  void watermark(EventTime time) {
    watermark_ = time;
    if (lanes_.size() == 1) {
      lanes_[0].outlet.watermark(time);
      lanes_[0].sent = time;
    }
  }
  void flush() {
    for (Lane& lane : lanes_) {
      send(lane);
      lane.outlet.flush();
    }
  }
  void set_idle(bool is_idle) {
    for (Lane& lane : lanes_) {
      send(lane);
      lane.outlet.set_idle(is_idle);
    }
  }
  void link(Way way, Stage& next) {
    lanes_.resize(static_cast<std::size_t>(way.lanes));
    lanes_[static_cast<std::size_t>(way.lane)].outlet.add(next);
    for (std::uint32_t group = 0; group < owners_.size(); ++group) {
      owners_[group] = static_cast<std::uint8_t>(owner_of(group, way.lanes));
    }
  }

 private:
  struct Lane {
    Batch<Row> rows;
    Outlet<Row> outlet;
    EventTime sent = EventTime::min();  ///< The newest watermark that went into it.
  };

  [[gnu::noinline]] Record<Row>* full(Record<Row>* end) {
    only_.made(end);
    lanes_[0].outlet.send(only_);
    return only_.space();
  }
  [[gnu::noinline]] void send(Lane& lane) {
    lane.outlet.send(lanes_.size() == 1 ? only_ : lane.rows);
    if (lane.sent < watermark_) {
      lane.outlet.watermark(watermark_);
      lane.sent = watermark_;
    }
  }

  KeyOf key_of_;
  Pick pick_;
  EventTime watermark_ = EventTime::min();
  Batch<Row> only_;
  std::vector<Lane> lanes_;
  std::array<std::uint8_t, key_group_count> owners_{};
};

}  // namespace millrace
