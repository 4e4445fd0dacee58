#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/operators/broadcast_process_stage.hpp"
#include "millrace/runtime/process.hpp"
#include "millrace/runtime/processed.hpp"

namespace millrace {

/// Rows by key, and the rows of a control stream, which go to every subtask. An example that runs
/// is in tests/unit/runtime/operator_examples_test.cpp.
template <class K, class T, class C>
class BroadcastFlow {
 public:
  BroadcastFlow(Origins rows, Origins control)
      : rows_(std::move(rows)), control_(std::move(control)) {}

  /// Runs `p` per row with the state of its key and the value that the control stream has made:
  /// see BroadcastProcess.
  template <class P>
    requires BroadcastProcess<P, K, T, C>
  auto process(const Label& label, P p) const {
    auto make = [label, inputs = inputs(), p = std::move(p)](auto keep) {
      using Processing = BroadcastProcessStage<K, T, C, P, decltype(keep)>;
      return keyed_node<typename P::Output>(
          label, inputs, [p, keep](const StageContext& context, const std::string& name) {
            return std::make_unique<Processing>(context, name, p, keep);
          });
    };
    return Processed<typename P::Output, decltype(make)>(std::move(make));
  }

 private:
  std::vector<Node::Input> inputs() const {
    std::vector<Node::Input> both = inputs_from(rows_, Node::Dealt::by_key, 0);
    for (Node::Input& input : inputs_from(control_, Node::Dealt::to_all, 1)) {
      both.push_back(std::move(input));
    }
    return both;
  }

  Origins rows_;
  Origins control_;
};

}  // namespace millrace
