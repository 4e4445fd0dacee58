#pragma once

#include <string>
#include <utility>

#include "millrace/runtime/operators/keyed_function.hpp"

namespace millrace {

/// Runs a user's function per row with the state of the row's key.
template <class K, class T, class P, class Keep = Forever>
class ProcessStage final : public Consumer<Keyed<K, T>> {
 public:
  using Out = typename P::Output;

  ProcessStage(const StageContext& context, std::string name, P process, Keep keep = {})
      : function_(context, std::move(name), std::move(process), keep) {}

  void take(Batch<Keyed<K, T>>& rows) override {
    function_.take(0, rows, [](const P& process, const T& row, auto& here, auto& out) {
      process.on_record(row, here, out);
    });
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
