#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "millrace/runtime/flow/lane.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/sink.hpp"
#include "millrace/runtime/state/codec.hpp"

namespace millrace {

/// What an operator's output rows are, where only their type's identity and transport matter.
struct RowType {
  const std::type_info* type;
  const std::string& shape;  ///< In words (Codec).
  std::unique_ptr<Stage> (*make_lane)(LaneOut& lane);
  DecodeRows decode;
};
template <class T>
inline const RowType row_type{
    &typeid(T), shape<T>(),
    [](LaneOut& lane) -> std::unique_ptr<Stage> { return std::make_unique<LaneStage<T>>(lane); },
    &Parcel<T>::decode};

using MakeStage = std::function<std::unique_ptr<Stage>(const StageContext& context)>;

/// One operator of a job before there are tasks: what it is called, what it reads, and how to make
/// one for a subtask. Never changes once made, so streams and jobs share nodes freely.
struct Node {
  enum class Role : std::uint8_t { source, steps, keyed, sink };
  /// How rows of an input are dealt to the subtasks.
  enum class Dealt : std::uint8_t {
    straight,  ///< From subtask i to subtask i.
    by_key,    ///< To the subtask that owns their key.
    to_all,    ///< Each to every subtask.
  };
  struct Input {
    std::shared_ptr<const Node> from;
    Dealt dealt = Dealt::straight;
    int output = 0;  ///< Of `from`, which may give several streams,
    int port = 0;    ///< and where they go in. Streams that share a port are one.
  };

  Role role = Role::steps;
  std::string name;  ///< Empty for steps, which keep nothing.
  std::vector<Input> inputs;
  MakeStage make;
  /// What each output gives. None: no rows of its own (a sink; a source before its steps).
  std::vector<const RowType*> outputs;
  std::string settings;  ///< What else its state depends on, for people. Part of the fingerprint.
  std::string address;   ///< Of a source.
  std::function<std::vector<PartitionFacts>(Env& env)> partitions;  ///< Of a source without a log.
  bool falls_idle = false;  ///< Of a source: it does not wait for partitions that give nothing.
  std::optional<SinkDescription> sink;
};
using NodePtr = std::shared_ptr<const Node>;

/// One stream that a node gives.
struct Origin {
  NodePtr node;
  int output = 0;
};
/// Where the rows of a stream come from: several, if streams were merged.
using Origins = std::vector<Origin>;

/// All of `origins` at one port.
inline std::vector<Node::Input> inputs_from(const Origins& origins, Node::Dealt dealt,
                                            int port = 0) {
  std::vector<Node::Input> inputs;
  for (const Origin& origin : origins) inputs.push_back({origin.node, dealt, origin.output, port});
  return inputs;
}

}  // namespace millrace
