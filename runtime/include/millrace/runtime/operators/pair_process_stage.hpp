#pragma once

#include <string>
#include <utility>

#include "millrace/runtime/operators/keyed_function.hpp"

namespace millrace {

/// Runs a user's function per row of two streams, left at port 0 and right at port 1, with one
/// state per key.
template <class K, class L, class R, class P, class Keep = Forever>
class PairProcessStage final : public Stage {
 public:
  using Out = typename P::Output;
  static constexpr int left_port = 0;
  static constexpr int right_port = 1;

  PairProcessStage(const StageContext& context, std::string name, P process, Keep keep = {})
      : function_(context, std::move(name), std::move(process), keep) {}

  void deliver(int port, AnyBatch& rows) override {
    if (port == left_port) {
      function_.take(port, static_cast<Parcel<Keyed<K, L>>&>(rows).rows,
                     [](const P& process, const L& row, auto& here, auto& out) {
                       process.on_left(row, here, out);
                     });
    } else {
      function_.take(port, static_cast<Parcel<Keyed<K, R>>&>(rows).rows,
                     [](const P& process, const R& row, auto& here, auto& out) {
                       process.on_right(row, here, out);
                     });
    }
  }
  void watermark(EventTime time) override { function_.watermark(time); }
  void set_idle(bool is_idle) override { function_.set_idle(is_idle); }
  void flush() override { function_.flush(); }
  void link(Way, Stage& next) override { function_.link(next); }
  EventTime next_alarm() const override { return function_.next_alarm(); }
  void ring(EventTime now) override { function_.ring(now); }
  void save(Snapshot& snapshot) override { function_.save(snapshot); }
  void restore(const Restored& restored) override { function_.restore(restored); }

 private:
  KeyedFunction<K, P, Keep> function_;
};

}  // namespace millrace
