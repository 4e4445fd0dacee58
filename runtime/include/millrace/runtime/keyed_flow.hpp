#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "millrace/runtime/broadcast_flow.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/operators/dedup.hpp"
#include "millrace/runtime/operators/process_stage.hpp"
#include "millrace/runtime/operators/reduce.hpp"
#include "millrace/runtime/operators/steps.hpp"
#include "millrace/runtime/paired_flow.hpp"
#include "millrace/runtime/process.hpp"
#include "millrace/runtime/processed.hpp"
#include "millrace/runtime/window.hpp"
#include "millrace/runtime/windowed_flow.hpp"

namespace millrace {

template <class T, class Line>
class Flow;

/// Rows by key.
///
/// Each operator has an example that runs in tests/unit/runtime/operator_examples_test.cpp.
template <class K, class T, class Line, class KeyOf>
class KeyedFlow {
 public:
  KeyedFlow(Line line, KeyOf key_of) : line_(std::move(line)), key_of_(std::move(key_of)) {}

  /// The same rows, to be folded per window: `tumbling`, `sliding`, `sessions` or `global`.
  template <class Windows>
    requires WindowKind<Windows>
  auto window(Windows windows) const {
    return WindowedFlow<K, T, Line, KeyOf, Windows>(line_, key_of_, windows);
  }

  /// Runs `p` per row with the key's state: see KeyedProcess.
  template <class P>
    requires KeyedProcess<P, K, T>
  auto process(const Label& label, P p) const {
    auto make = [label, rows = by_key(), p = std::move(p)](auto keep) {
      using Processing = ProcessStage<K, T, P, decltype(keep)>;
      return keyed_node<typename P::Output>(
          label, inputs_from(rows, Node::Dealt::by_key),
          [p, keep](const StageContext& context, const std::string& name) {
            return std::make_unique<Processing>(context, name, p, keep);
          });
    };
    return Processed<typename P::Output, decltype(make)>(std::move(make));
  }

  /// The running result per key: `f(so far, row)`, one row out for each row in. A key's first row
  /// is its own result.
  template <class F>
  auto reduce(const Label& label, F f) const {
    static_assert(
        !Opaque<F>,
        "a pointer hides the function from the compiler: write reduce<&name>() or a lambda");
    return process(label, Reduce<T, F>{std::move(f)});
  }
  template <auto F>
  auto reduce(const Label& label) const {
    return reduce(label, Named<F>{});
  }

  /// The first row of each key within `keep_for` of event time: see Dedup.
  auto dedup(const Label& label, Duration keep_for) const {
    return process(label, Dedup<T>{millrace::keep_for(keep_for).span});
  }

  /// Rows of two streams with one key and one state; this is the left one.
  template <class K2, class R, class LineR, class KeyR>
  auto with(const KeyedFlow<K2, R, LineR, KeyR>& right) const {
    static_assert(std::is_same_v<K, K2>,
                  "the keys of the two streams are of different types: let both key_by give one");
    return PairedFlow<K, T, R>(by_key(), right.by_key());
  }

  /// Every subtask also gets each row of `control`, a small stream.
  template <class C, class LineC>
  auto with_broadcast(const Flow<C, LineC>& control) const {
    return BroadcastFlow<K, T, C>(by_key(), control.closed());
  }

  /// Its rows, on their way to the subtasks of their keys. For those who build nodes.
  Origins by_key() const {
    return line_.from.template close<Keyed<K, T>>(line_.steps, [key_of = key_of_] {
      return KeyedWriter<K, T, KeyOf, std::identity>(key_of, {});
    });
  }

 private:
  Line line_;
  KeyOf key_of_;
};

}  // namespace millrace
