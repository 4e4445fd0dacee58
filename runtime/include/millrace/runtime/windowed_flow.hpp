#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/env/error.hpp"
#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/collections.hpp"
#include "millrace/runtime/flow/combining_writer.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/operators/trigger_window_stage.hpp"
#include "millrace/runtime/operators/window_stage.hpp"
#include "millrace/runtime/trigger.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

template <class T>
class Stream;

/// Two streams of one operator: `auto [results, late] = ...`.
template <class R, class T>
struct WithLate {
  Stream<R> results;
  Stream<T> late;
};

/// Rows by key and window.
///
///     auto [counts, late] = bids.key_by<&Bid::auction>()
///                               .window(sliding(10s, 2s))
///                               .allow_lateness(1min)
///                               .aggregate_and_late("bids per auction", count());
///
/// Tumbling and sliding windows that fire when they end share their panes among all keys and
/// windows. Sessions, the global window, and whatever has a trigger or purges is kept key by key.
template <class K, class T, class Line, class KeyOf, class Windows, class Tr = triggers::AtEnd,
          bool purges = false>
class WindowedFlow {
 public:
  WindowedFlow(Line line, KeyOf key_of, Windows windows, Tr trigger = {},
               Duration lateness = Duration{0})
      : line_(std::move(line)),
        key_of_(std::move(key_of)),
        windows_(windows),
        trigger_(std::move(trigger)),
        lateness_(lateness) {}

  /// Keeps windows for `d` of event time after they have ended. Rows that come in that time let
  /// the windows that they change out again, at once (see Windowed::pane).
  ///
  /// Throws UsageError: `d` is negative. A `d` beyond the end of time means for ever.
  WindowedFlow allow_lateness(Duration d) const {
    expect_lateness(d);
    return {line_, key_of_, windows_, trigger_, d};
  }

  /// Lets results out when `t` says so, instead of when windows end: see WindowTrigger.
  template <class Other>
    requires WindowTrigger<Other, T>
  auto trigger(Other t) const {
    return WindowedFlow<K, T, Line, KeyOf, Windows, Other, purges>(line_, key_of_, windows_,
                                                                   std::move(t), lateness_);
  }

  /// A window that lets a result out forgets the rows of it: the next holds what came since.
  auto purging() const {
    return WindowedFlow<K, T, Line, KeyOf, Windows, Tr, true>(line_, key_of_, windows_, trigger_,
                                                              lateness_);
  }

  /// A Windowed<K, Result> per key and window, when the watermark passes its end, or as the trigger
  /// says.
  ///
  /// Rows that come when all their windows have been cleaned up are counted and dropped. Windows
  /// without rows do not exist.
  ///
  /// Throws UsageError: KeepLargest with allowed lateness. It chooses once, among all keys.
  template <class A, class Keep = KeepAll>
    requires Aggregate<A, T>
  auto aggregate(const Label& name, A fold, Keep keep = {}) const {
    if constexpr (SeesRows<Tr, T>) {
      return results_of(node_of<T>(name, aggregates::OfRows<A, T>{fold}, keep,
                                   picking(aggregates::OfRows<A, T>{fold})));
    } else if constexpr (combines<A>) {
      // Rows are folded before they travel.
      using Writer = CombiningWriter<K, A, KeyOf, Windows>;
      return results_of(node_of<typename Writer::Part>(
          name, aggregates::OfPartials<A>{fold}, keep,
          [key_of = key_of_, fold, windows = windows_] { return Writer(key_of, fold, windows); }));
    } else {
      return results_of(node_of<PickedBy<A>>(name, fold, keep, picking(fold)));
    }
  }

  /// The same, and a stream of the rows that were dropped otherwise, as they came. Whole rows
  /// travel to the task that holds the key, where `aggregate` sends what the fold needs of them.
  template <class A, class Keep = KeepAll>
    requires Aggregate<A, T>
  auto aggregate_and_late(const Label& name, A fold, Keep keep = {}) const {
    const aggregates::OfRows<A, T> of_rows{std::move(fold)};
    auto made = node_of<T>(name, of_rows, keep, picking(of_rows), {&row_type<T>});
    using R = typename decltype(made)::Out;
    return WithLate<R, T>{Stream<R>(made.node), Stream<T>(Origins{{made.node, 1}})};
  }

 private:
  template <class A>
  using PickedBy =
      std::remove_cvref_t<decltype(std::declval<const A&>().pick(std::declval<const T&>()))>;
  static constexpr bool shares_panes =
      std::is_same_v<Windows, Sliding> && std::is_same_v<Tr, triggers::AtEnd> && !purges;

  template <class A>
  static constexpr bool combines = [] {
    if constexpr (AskedOnce<Tr, T>) {
      return CombiningWriter<K, A, KeyOf, Windows>::is_worth_it;
    } else {
      return false;
    }
  }();

  template <class R>
  struct Made {
    using Out = R;
    NodePtr node;
  };
  template <class R>
  static Stream<R> results_of(const Made<R>& made) {
    return Stream<R>(made.node);
  }

  /// Makes writers that send what the fold needs of each row.
  template <class A>
  auto picking(const A& fold) const {
    return [key_of = key_of_, fold] {
      auto pick = [fold](const T& row) -> decltype(auto) { return fold.pick(row); };
      return KeyedWriter<K, PickedBy<A>, KeyOf, decltype(pick)>(key_of, pick);
    };
  }

  /// `fold` is given V, as the writers that `write` makes send it. `more`: outputs behind the
  /// results.
  template <class V, class A, class Keep, class Write>
  auto node_of(const Label& name, const A& fold, Keep, Write write,
               std::vector<const RowType*> more = {}) const {
    if constexpr (shares_panes) {
      if (std::is_same_v<Keep, KeepLargest> && lateness_ > Duration::zero()) {
        throw UsageError(name.name +
                         ": KeepLargest chooses once, when a window ends, and a window "
                         "with allowed lateness changes later");
      }
      return node_of<V, WindowStage<K, V, A, Keep>>(name, write, more, fold, windows_, lateness_);
    } else {
      static_assert(std::is_same_v<Keep, KeepAll>,
                    "KeepLargest chooses among the keys of a window when it ends: it goes with "
                    "tumbling and sliding windows without a trigger");
      return node_of<V, TriggerWindowStage<K, V, A, Windows, Tr, purges>>(
          name, write, more, fold, windows_, trigger_, lateness_);
    }
  }
  /// `parts` are what a stage S is made of, behind place and name.
  template <class V, class S, class Write, class... Parts>
  auto node_of(const Label& name, Write write, const std::vector<const RowType*>& more,
               const Parts&... parts) const {
    Node node;
    node.role = Node::Role::keyed;
    node.name = name.name;
    node.inputs = inputs_from(line_.from.template close<Keyed<K, V>>(line_.steps, write),
                              Node::Dealt::by_key);
    node.outputs = {&row_type<typename S::Out>};
    node.outputs.insert(node.outputs.end(), more.begin(), more.end());
    node.settings = describe(windows_);
    node.make = [label = name.name, parts...](const StageContext& context) {
      return std::unique_ptr<Stage>(std::make_unique<S>(context, label, parts...));
    };
    return Made<typename S::Out>{std::make_shared<const Node>(std::move(node))};
  }

  Line line_;
  KeyOf key_of_;
  Windows windows_;
  Tr trigger_;
  Duration lateness_;
};

}  // namespace millrace
