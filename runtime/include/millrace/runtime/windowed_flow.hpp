#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/flow/writers.hpp"
#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/operators/window_stage.hpp"
#include "millrace/runtime/window.hpp"

namespace millrace {

template <class T>
class Stream;

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
    node.inputs = inputs_from(rows, Node::Dealt::by_key);
    node.outputs = {&row_type<typename Windows::Out>};
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

}  // namespace millrace
