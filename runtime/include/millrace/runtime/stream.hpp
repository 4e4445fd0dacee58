#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/fused_stage.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/operators/steps.hpp"
#include "millrace/runtime/operators/window_stage.hpp"
#include "millrace/runtime/sink.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/source/reading_stage.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

template <class T>
class Stream;
template <class K, class T, class Line, class KeyOf>
class KeyedFlow;
template <class K, class T, class Line, class KeyOf>
class WindowedFlow;

/// Rows of T with event times, somewhere in a pipeline. What most calls return, and what `auto`
/// holds.
///
/// A value: copy it, use it twice. Steps are pure functions of one row and run fused, without
/// memory between them, up to the next exchange, stateful operator, sink or Stream. A flow that is
/// used twice runs its steps twice and its source once; to run them once, give it a name:
/// `Stream<Bid> bids = ...`.
///
/// Names go in angle brackets, lambdas in parentheses: `map<&parse>()`, `key_by<&Bid::auction>()`,
/// `filter([](const Bid& b) { return b.price > 0; })`. A bare pointer to a function or member is
/// refused: the compiler could not see through it.
template <class T, class Line>
class Flow {
 public:
  explicit Flow(Line line) : line_(std::move(line)) {}

  /// What `f` makes of each row.
  template <class F>
  auto map(F f) const;
  template <auto F>
  auto map() const {
    return map(Named<F>{});
  }

  /// The rows for which `f` is true.
  template <class F>
  auto filter(F f) const;
  template <auto F>
  auto filter() const {
    return filter(Named<F>{});
  }

  /// The rows in what `f` returns: an optional, or any range.
  template <class F>
  auto flat_map(F f) const;
  template <auto F>
  auto flat_map() const {
    return flat_map(Named<F>{});
  }

  /// The same rows, to be handled per key. `f` gives the key: integers, enumerations, texts, plain
  /// structs of them.
  template <class F>
  auto key_by(F f) const;
  template <auto F>
  auto key_by() const {
    return key_by(Named<F>{});
  }

  /// Ends the stream in a sink. `name` also names its rows in the checkpoint store: see Label.
  End to(const Label& name, const Sink<T>& sink) const;

  /// The node that gives these rows: ends the run of steps. For those who build nodes.
  NodePtr closed() const;

 protected:
  Line line_;

 private:
  template <class Out, class Step>
  auto then(Step step) const;
};

namespace lines {

// A line is the part of a pipeline that is still open: a node and the steps after it. `close` ends
// the steps with a writer and makes a node of them.

template <class T>
struct FromNode {
  NodePtr node;
  template <class Out, class Steps, class Writer>
  NodePtr close(Steps steps, Writer writer) const {
    Node steps_node;
    steps_node.role = Node::Role::steps;
    steps_node.inputs = {{node, false}};
    steps_node.out = &row_type<Out>;
    steps_node.make = [steps, writer](const StageContext&) -> std::unique_ptr<Stage> {
      return std::make_unique<FusedStage<T, Steps, decltype(writer())>>(steps, writer());
    };
    return std::make_shared<const Node>(std::move(steps_node));
  }
};

template <class T, class TimeOf>
struct FromSource {
  NodePtr node;
  TimeOf time_of;
  template <class Out, class Steps, class Writer>
  NodePtr close(Steps steps, Writer writer) const {
    Node steps_node;
    steps_node.role = Node::Role::steps;
    steps_node.inputs = {{node, false}};
    steps_node.out = &row_type<Out>;
    steps_node.make = [steps, writer,
                       time = time_of](const StageContext&) -> std::unique_ptr<Stage> {
      return std::make_unique<FusedSourceStage<T, TimeOf, Steps, decltype(writer())>>(time, steps,
                                                                                      writer());
    };
    return std::make_shared<const Node>(std::move(steps_node));
  }
};

template <class From, class Steps>
struct Line {
  From from;
  Steps steps;
};

template <class L>
struct IsBareNode : std::false_type {};
template <class T>
struct IsBareNode<Line<FromNode<T>, steps::None>> : std::true_type {};

}  // namespace lines

/// A Flow with a type that can be written down: for variables, members, parameters, and for running
/// steps once.
///
/// Converting a flow to it ends the fused run: its rows pass through one batch, about 3 ns each.
template <class T>
class Stream : public Flow<T, lines::Line<lines::FromNode<T>, steps::None>> {
  using Base = Flow<T, lines::Line<lines::FromNode<T>, steps::None>>;

 public:
  explicit Stream(NodePtr node) : Base({{std::move(node)}, {}}) {}
  template <class Line>
  Stream(const Flow<T, Line>& flow) : Stream(flow.closed()) {}  // NOLINT: meant to convert
};

/// A source whose rows have no event time yet. There is no window, and no step, before there is
/// one.
template <class T>
class Unstamped {
 public:
  Unstamped(std::string name, Source<T> source)
      : name_(std::move(name)), source_(std::move(source)) {}

  /// Event time is what `f` gives; rows of a partition are out of order by at most `d`.
  ///
  /// The watermark of a partition is its newest row less `d`, in the order of the log, and part of
  /// the checkpoint.
  template <class F>
  auto event_time(F f, Disorder d) const {
    static_assert(!Opaque<F>,
                  "a pointer hides the function from the compiler: write "
                  "event_time<&name>(...) or a lambda");
    Node node;
    node.role = Node::Role::source;
    node.name = name_;
    node.address = source_.address;
    node.make = [source = source_, d](const StageContext& context) -> std::unique_ptr<Stage> {
      return std::make_unique<ReadingStage<T>>(context, source, d);
    };
    using L = lines::Line<lines::FromSource<T, F>, steps::None>;
    return Flow<T, L>(L{{std::make_shared<const Node>(std::move(node)), std::move(f)}, {}});
  }
  template <auto F>
  auto event_time(Disorder d) const {
    return event_time(Named<F>{}, d);
  }

 private:
  std::string name_;
  Source<T> source_;
};

/// Starts a pipeline. The name keeps the read positions: see Label.
///
///     Job hot_items(const Source<Bid>& bids, const Sink<Hot>& table) {
///       return Job("hot items",
///                  from("bids", bids)
///                      .event_time<&Bid::at>(disorder(4s))
///                      .filter([](const Bid& bid) { return bid.price >= 100; })
///                      .key_by<&Bid::auction>()
///                      .window(tumbling(10s))
///                      .aggregate("per_auction", count())
///                      .map([](const auto& hot) { return Hot{hot.window.end, hot.key, hot.value};
///                      }) .to("hot_items", table));
///     }
template <class T>
Unstamped<T> from(const Label& name, const Source<T>& source) {
  return {name.name, source};
}

/// Rows by key.
template <class K, class T, class Line, class KeyOf>
class KeyedFlow {
 public:
  KeyedFlow(Line line, KeyOf key_of) : line_(std::move(line)), key_of_(std::move(key_of)) {}

  auto window(Tumbling windows) const {
    return WindowedFlow<K, T, Line, KeyOf>(line_, key_of_, windows);
  }

 private:
  Line line_;
  KeyOf key_of_;
};

/// Rows by key and window.
template <class K, class T, class Line, class KeyOf>
class WindowedFlow {
 public:
  WindowedFlow(Line line, KeyOf key_of, Tumbling windows)
      : line_(std::move(line)), key_of_(std::move(key_of)), windows_(windows) {}

  /// One Windowed<K, Result> per key and window, when the watermark passes its end.
  ///
  /// Rows that come after that are counted and dropped. Windows without rows do not exist.
  template <class A>
    requires Aggregate<A, T>
  auto aggregate(const Label& name, A fold) const {
    using V = std::remove_cvref_t<decltype(fold.pick(std::declval<const T&>()))>;
    using Windows = WindowStage<K, V, A>;
    auto rows = line_.from.template close<Keyed<K, V>>(line_.steps, [key_of = key_of_, fold] {
      auto pick = [fold](const T& row) { return fold.pick(row); };
      return KeyedWriter<K, V, KeyOf, decltype(pick)>(key_of, pick);
    });
    Node node;
    node.role = Node::Role::keyed;
    node.name = name.name;
    node.inputs = {{std::move(rows), true}};
    node.out = &row_type<typename Windows::Out>;
    node.make = [fold, windows = windows_,
                 label = name.name](const StageContext& context) -> std::unique_ptr<Stage> {
      return std::make_unique<Windows>(context, label, fold, windows);
    };
    return Stream<typename Windows::Out>(std::make_shared<const Node>(std::move(node)));
  }

 private:
  Line line_;
  KeyOf key_of_;
  Tumbling windows_;
};

// What follows is the inside of Flow.

template <class T, class Line>
template <class Out, class Step>
auto Flow<T, Line>::then(Step step) const {
  auto longer = steps::then(line_.steps, std::move(step));
  using L = lines::Line<decltype(line_.from), decltype(longer)>;
  return Flow<Out, L>(L{line_.from, std::move(longer)});
}

template <class T, class Line>
template <class F>
auto Flow<T, Line>::map(F f) const {
  static_assert(!Opaque<F>,
                "a pointer hides the function from the compiler: write map<&name>() or a lambda");
  using Out = std::remove_cvref_t<std::invoke_result_t<const F&, const T&>>;
  return then<Out>(steps::Map<F>{std::move(f)});
}

template <class T, class Line>
template <class F>
auto Flow<T, Line>::filter(F f) const {
  static_assert(
      !Opaque<F>,
      "a pointer hides the function from the compiler: write filter<&name>() or a lambda");
  return then<T>(steps::Filter<F>{std::move(f)});
}

template <class T, class Line>
template <class F>
auto Flow<T, Line>::flat_map(F f) const {
  static_assert(
      !Opaque<F>,
      "a pointer hides the function from the compiler: write flat_map<&name>() or a lambda");
  using Made = std::remove_cvref_t<std::invoke_result_t<const F&, const T&>>;
  if constexpr (requires(Made made) { made.has_value(); }) {
    return then<typename Made::value_type>(steps::FlatMap<F>{std::move(f)});
  } else {
    using Out = std::remove_cvref_t<decltype(*std::begin(std::declval<Made&>()))>;
    return then<Out>(steps::FlatMap<F>{std::move(f)});
  }
}

template <class T, class Line>
template <class F>
auto Flow<T, Line>::key_by(F f) const {
  static_assert(
      !Opaque<F>,
      "a pointer hides the function from the compiler: write key_by<&name>() or a lambda");
  using K = std::remove_cvref_t<std::invoke_result_t<const F&, const T&>>;
  static_assert(!std::is_floating_point_v<K>, "a floating-point number makes no key");
  return KeyedFlow<K, T, Line, F>(line_, std::move(f));
}

template <class T, class Line>
NodePtr Flow<T, Line>::closed() const {
  if constexpr (lines::IsBareNode<Line>::value) {
    return line_.from.node;
  } else {
    return line_.from.template close<T>(line_.steps, [] { return PlainWriter<T>(); });
  }
}

template <class T, class Line>
End Flow<T, Line>::to(const Label& name, const Sink<T>& sink) const {
  Node node;
  node.role = Node::Role::sink;
  node.name = name.name;
  node.inputs = {{closed(), false}};
  node.sink = SinkDescription{name.name, sink.database, sink.schema};
  node.make = [sink, label = name.name](const StageContext& context) -> std::unique_ptr<Stage> {
    return sink.open(context, label);
  };
  return End(std::make_shared<const Node>(std::move(node)));
}

}  // namespace millrace
