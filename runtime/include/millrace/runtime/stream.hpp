#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "millrace/runtime/flow/fused_stage.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/keyed_flow.hpp"
#include "millrace/runtime/operators/steps.hpp"
#include "millrace/runtime/sink.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/source/reading_stage.hpp"

namespace millrace {

template <class T>
class Stream;

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

  /// The rows that hold an A, of a stream of variants: how a function with several kinds of output
  /// is taken apart.
  template <class A>
  auto only() const;

  /// Where these rows come from: ends the run of steps. For those who build nodes.
  Origins closed() const;

 protected:
  Line line_;

 private:
  template <class Out, class Step>
  auto then(Step step) const;
};

namespace lines {

// A line is the part of a pipeline that is still open: where rows come from and the steps after it.
// `close` ends the steps with a writer and makes a node of them; one for each origin.

template <class T>
struct FromNodes {
  Origins origins;
  template <class Out, class Steps, class Writer>
  Origins close(Steps steps, Writer writer) const {
    Origins closed;
    for (const Origin& origin : origins) {
      Node steps_node;
      steps_node.role = Node::Role::steps;
      steps_node.inputs = inputs_from({origin}, Node::Dealt::straight);
      steps_node.outputs = {&row_type<Out>};
      steps_node.make = [steps, writer](const StageContext& context) -> std::unique_ptr<Stage> {
        return std::make_unique<FusedStage<T, Steps, decltype(writer())>>(context, steps, writer());
      };
      closed.push_back({std::make_shared<const Node>(std::move(steps_node))});
    }
    return closed;
  }
};

template <class T, class TimeOf>
struct FromSource {
  NodePtr node;
  TimeOf time_of;
  template <class Out, class Steps, class Writer>
  Origins close(Steps steps, Writer writer) const {
    Node steps_node;
    steps_node.role = Node::Role::steps;
    steps_node.inputs = inputs_from({{node}}, Node::Dealt::straight);
    steps_node.outputs = {&row_type<Out>};
    steps_node.make = [steps, writer,
                       time = time_of](const StageContext& context) -> std::unique_ptr<Stage> {
      return std::make_unique<FusedSourceStage<T, TimeOf, Steps, decltype(writer())>>(
          context, time, steps, writer());
    };
    return {{std::make_shared<const Node>(std::move(steps_node))}};
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
struct IsBareNode<Line<FromNodes<T>, steps::None>> : std::true_type {};

}  // namespace lines

/// A Flow with a type that can be written down: for variables, members, parameters, and for running
/// steps once.
///
/// Converting a flow to it ends the fused run: its rows pass through one batch, about 3 ns each.
template <class T>
class Stream : public Flow<T, lines::Line<lines::FromNodes<T>, steps::None>> {
  using Base = Flow<T, lines::Line<lines::FromNodes<T>, steps::None>>;

 public:
  explicit Stream(Origins origins) : Base({{std::move(origins)}, {}}) {}
  explicit Stream(NodePtr node) : Stream(Origins{{std::move(node)}}) {}
  template <class Line>
  Stream(const Flow<T, Line>& flow) : Stream(flow.closed()) {}  // NOLINT: meant to convert
};

/// The rows of all of them, in no order between them: a union. Costs nothing of its own.
///
///     merge<Click>({web, app}).key_by<&Click::user>()...
template <class T>
Stream<T> merge(std::initializer_list<Stream<T>> streams) {
  Origins origins;
  for (const Stream<T>& stream : streams) {
    for (Origin& origin : stream.closed()) origins.push_back(std::move(origin));
  }
  return Stream<T>(std::move(origins));
}

/// A source whose rows have no event time yet. There is no window, and no step, before there is
/// one.
template <class T>
class Unstamped {
 public:
  Unstamped(std::string name, Source<T> source)
      : name_(std::move(name)), source_(std::move(source)) {}

  /// Does not wait for a partition that gives nothing while its reader waits for it for longer than
  /// `span`: it is idle until it gives something again (WM-7). What it gives then may be late.
  ///
  /// When partitions fall idle depends on clocks, and so then does which rows are late.
  Unstamped idle_after(std::chrono::nanoseconds span) const {
    Unstamped other = *this;
    other.idle_after_ = span;
    return other;
  }

  /// Event time is what `f` gives; rows of a partition are out of order by at most `d`.
  ///
  /// The watermark of a partition is its newest row less `d`, in the order of the log, and part of
  /// the checkpoint.
  template <class F>
  auto event_time(F f, Disorder d) const {
    return timed(std::move(f), SourceTime<T>{d, nullptr, idle_after_});
  }
  template <auto F>
  auto event_time(Disorder d) const {
    return event_time(Named<F>{}, d);
  }
  /// The same, with a watermark of one's own: see WatermarkGenerator.
  template <class F, class G>
    requires WatermarkGenerator<G, T>
  auto event_time(F f, G generator) const {
    SourceTime<T> time{{}, nullptr, idle_after_};
    time.generator = [f, generator]() -> std::unique_ptr<PartitionWatermark<T>> {
      return std::make_unique<GeneratedWatermark<T, F, G>>(f, generator);
    };
    return timed(std::move(f), std::move(time));
  }
  template <auto F, class G>
    requires WatermarkGenerator<G, T>
  auto event_time(G generator) const {
    return event_time(Named<F>{}, std::move(generator));
  }

 private:
  template <class F>
  auto timed(F f, SourceTime<T> time) const {
    static_assert(!Opaque<F>,
                  "a pointer hides the function from the compiler: write "
                  "event_time<&name>(...) or a lambda");
    Node node;
    node.role = Node::Role::source;
    node.name = name_;
    node.address = source_.address;
    node.partitions = source_.partitions;
    node.falls_idle = time.idle_after.has_value();
    node.make = [name = name_, source = source_,
                 time](const StageContext& context) -> std::unique_ptr<Stage> {
      return std::make_unique<ReadingStage<T>>(context, name, source, time);
    };
    using L = lines::Line<lines::FromSource<T, F>, steps::None>;
    return Flow<T, L>(L{{std::make_shared<const Node>(std::move(node)), std::move(f)}, {}});
  }

  std::string name_;
  Source<T> source_;
  std::optional<std::chrono::nanoseconds> idle_after_;
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
template <class A>
auto Flow<T, Line>::only() const {
  return flat_map([](const T& row) -> std::optional<A> {
    const A* const held = std::get_if<A>(&row);
    return held == nullptr ? std::nullopt : std::optional<A>(*held);
  });
}

template <class T, class Line>
Origins Flow<T, Line>::closed() const {
  if constexpr (lines::IsBareNode<Line>::value) {
    return line_.from.origins;
  } else {
    return line_.from.template close<T>(line_.steps, [] { return PlainWriter<T>(); });
  }
}

template <class T, class Line>
End Flow<T, Line>::to(const Label& name, const Sink<T>& sink) const {
  Node node;
  node.role = Node::Role::sink;
  node.name = name.name;
  node.inputs = inputs_from(closed(), Node::Dealt::straight);
  node.sink = SinkDescription{name.name, sink.database, sink.schema};
  node.make = [sink, label = name.name](const StageContext& context) -> std::unique_ptr<Stage> {
    return sink.open(context, label);
  };
  return End(std::make_shared<const Node>(std::move(node)));
}

}  // namespace millrace
