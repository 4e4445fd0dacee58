#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "millrace/runtime/job.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/process.hpp"

namespace millrace {

template <class T>
class Stream;

/// Throws UsageError: the span is not positive, or more than 100,000 days.
KeepFor keep_for(Duration span);

/// What a keyed function lets out: a stream, and the place to say how long it remembers a key.
template <class Out, class Make>
class Processed : public Stream<Out> {
 public:
  /// `make(keep)` gives the operator's node.
  explicit Processed(Make make) : Stream<Out>(make(Forever{})), make_(std::move(make)) {}

  /// The same function, which forgets a key, with its state and alarms, when the watermark is
  /// `span` behind the newest event time of the key's rows and alarms: then nothing has happened to
  /// the key for at least that long.
  ///
  ///     .process("visits", CountVisits{}).keep_for(24h)
  ///
  /// Event time, and not the node's clock: a job that reads a day's rows in a minute, or that was
  /// down over night, forgets the same keys at the same rows. For a time to live by the clock there
  /// is `wake_at_wall`.
  Stream<Out> keep_for(Duration span) const { return Stream<Out>(make_(millrace::keep_for(span))); }

 private:
  Make make_;
};

/// The node of a keyed operator: `make_stage(context, label)` makes its stages.
template <class Out, class MakeKeyedStage>
NodePtr keyed_node(const Label& label, std::vector<Node::Input> inputs, MakeKeyedStage make_stage) {
  Node node;
  node.role = Node::Role::keyed;
  node.name = label.name;
  node.inputs = std::move(inputs);
  node.outputs = {&row_type<Out>};
  node.make = [make_stage = std::move(make_stage),
               name = label.name](const StageContext& context) -> std::unique_ptr<Stage> {
    return make_stage(context, name);
  };
  return std::make_shared<const Node>(std::move(node));
}

}  // namespace millrace
