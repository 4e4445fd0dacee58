#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/runtime/operators/keyed_function.hpp"

namespace millrace {

/// Runs a user's function per row of a keyed stream, at port 0, with the state of the row's key and
/// a value made of the rows of a control stream, at port 1, which every subtask gets.
///
/// Every subtask saves its value, because each subtask that starts reads the state of those whose
/// keys it takes over, and of no other. Where it reads several they are the same
/// (BroadcastProcess).
template <class K, class T, class C, class P, class Keep = Forever>
class BroadcastProcessStage final : public Stage {
  using Broadcast = typename P::Broadcast;

  /// The user's function as one that knows no broadcast.
  struct Function {
    using State = typename P::State;
    using Output = typename P::Output;
    P process;
    std::shared_ptr<const Broadcast> broadcast;

    const Broadcast& known() const { return *broadcast; }
    void on_alarm(KeyContext<K, State>& here, Emit<Output>& out) const
      requires requires(const P& p, const Broadcast& b) { p.on_alarm(here, b, out); }
    {
      process.on_alarm(here, *broadcast, out);
    }
    void on_wall_alarm(KeyContext<K, State>& here, Emit<Output>& out) const
      requires requires(const P& p, const Broadcast& b) { p.on_wall_alarm(here, b, out); }
    {
      process.on_wall_alarm(here, *broadcast, out);
    }
  };

 public:
  using Out = typename P::Output;
  static constexpr int rows_port = 0;
  static constexpr int control_port = 1;

  BroadcastProcessStage(const StageContext& context, std::string name, P process, Keep keep = {})
      : name_(name),
        process_(process),
        function_(context, std::move(name), Function{std::move(process), broadcast_}, keep) {}

  void deliver(int port, AnyBatch& rows) override {
    if (port == rows_port) {
      function_.take(port, static_cast<Parcel<Keyed<K, T>>&>(rows).rows,
                     [](const Function& function, const T& row, auto& here, auto& out) {
                       function.process.on_record(row, here, *function.broadcast, out);
                     });
      return;
    }
    for (const Record<C>& row : static_cast<Parcel<C>&>(rows).rows) {
      try {
        process_.on_broadcast(row.value, *broadcast_);
      } catch (const std::exception&) {
        rethrow_of_function(name_, "a row of the control stream", row.time);
      }
    }
  }
  void watermark(EventTime time) override { function_.watermark(time); }
  void set_idle(bool is_idle) override { function_.set_idle(is_idle); }
  void flush() override { function_.flush(); }
  void link(Way, Stage& next) override { function_.link(next); }
  EventTime next_alarm() const override { return function_.next_alarm(); }
  void ring(EventTime now) override { function_.ring(now); }

  void save(Snapshot& snapshot) override {
    function_.save(snapshot);
    Encoder out;
    encode(out, *broadcast_);
    snapshot.parts.push_back(
        {name_, part_name, shape<Broadcast>(), std::make_unique<FrozenBytes>(out.take())});
  }
  void restore(const Restored& restored) override {
    function_.restore(restored);
    const RestoredSection* first = nullptr;
    for (const RestoredSection& section : restored.sections) {
      if (section.part != part_name) continue;
      expect_shape(name_, section, shape<Broadcast>());
      if (first == nullptr) {
        first = &section;
        Decoder in(section.bytes);
        decode(in, *broadcast_);
        in.expect_end();
      } else if (section.bytes != first->bytes) {
        throw UsageError(name_ +
                         ": on_broadcast made different values of the same rows on two subtasks: "
                         "what it makes of rows of different partitions must not depend on which "
                         "of them comes first");
      }
    }
  }

 private:
  static constexpr const char* part_name = "broadcast";

  std::string name_;
  P process_;
  std::shared_ptr<Broadcast> broadcast_ = std::make_shared<Broadcast>();
  KeyedFunction<K, Function, Keep> function_;
};

}  // namespace millrace
