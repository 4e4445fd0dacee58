#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/operators/interval_join.hpp"
#include "millrace/runtime/operators/pair_process_stage.hpp"
#include "millrace/runtime/operators/steps.hpp"
#include "millrace/runtime/operators/window_join.hpp"
#include "millrace/runtime/process.hpp"
#include "millrace/runtime/processed.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

template <class K, class L, class R>
class PairedFlow;

/// Throws UsageError: one of them is longer than 100,000 days, or they leave no time between them.
void check_interval(Duration before, Duration after);

/// Rows of two streams by key and window.
template <class K, class L, class R>
class WindowedPair {
 public:
  WindowedPair(PairedFlow<K, L, R> rows, Sliding windows)
      : rows_(std::move(rows)), windows_(windows) {}

  /// `f(left, right)`, or `f(left, right, window)`, for each pair of rows of a key and each window
  /// that holds both, when the window ends: see WindowJoin.
  template <class F>
  auto join(const Label& label, F f) const {
    static_assert(
        !Opaque<F>,
        "a pointer hides the function from the compiler: write join<&name>() or a lambda");
    return rows_.process(label, WindowJoin<L, R, F>{windows_, std::move(f)});
  }
  template <auto F>
  auto join(const Label& label) const {
    return join(label, Named<F>{});
  }

 private:
  PairedFlow<K, L, R> rows_;
  Sliding windows_;
};

/// Rows of two streams, left and right, with keys of one type.
///
/// Each operator has an example that runs in tests/unit/runtime/operator_examples_test.cpp.
template <class K, class L, class R>
class PairedFlow {
 public:
  PairedFlow(Origins left, Origins right) : left_(std::move(left)), right_(std::move(right)) {}

  /// Runs `p` per row of either stream with the state of its key: see KeyedPairProcess.
  template <class P>
    requires KeyedPairProcess<P, K, L, R>
  auto process(const Label& label, P p) const {
    auto make = [label, inputs = inputs(), p = std::move(p)](auto keep) {
      using Processing = PairProcessStage<K, L, R, P, decltype(keep)>;
      return keyed_node<typename P::Output>(
          label, inputs, [p, keep](const StageContext& context, const std::string& name) {
            return std::make_unique<Processing>(context, name, p, keep);
          });
    };
    return Processed<typename P::Output, decltype(make)>(std::move(make));
  }

  /// `f(left, right)` for each pair of rows of a key with
  /// left.time - before <= right.time <= left.time + after: see IntervalJoin.
  ///
  /// Either may be negative: `join_within("answers", -1ms, 5s, f)` takes right rows that come
  /// behind the left one, and not at the same time.
  template <class F>
  auto join_within(const Label& label, Duration before, Duration after, F f) const {
    static_assert(
        !Opaque<F>,
        "a pointer hides the function from the compiler: write join_within<&name>() or a lambda");
    check_interval(before, after);
    return process(label, IntervalJoin<L, R, F>{before, after, std::move(f)});
  }
  template <auto F>
  auto join_within(const Label& label, Duration before, Duration after) const {
    return join_within(label, before, after, Named<F>{});
  }

  /// By key and window: `tumbling(...)`, `sliding(...)`.
  auto window(Sliding windows) const { return WindowedPair<K, L, R>(*this, windows); }

 private:
  std::vector<Node::Input> inputs() const {
    std::vector<Node::Input> both = inputs_from(left_, Node::Dealt::by_key, 0);
    for (Node::Input& input : inputs_from(right_, Node::Dealt::by_key, 1)) {
      both.push_back(std::move(input));
    }
    return both;
  }

  Origins left_;
  Origins right_;
};

}  // namespace millrace
