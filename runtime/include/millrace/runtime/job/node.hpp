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
  std::uint64_t shape;
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
  struct Input {
    std::shared_ptr<const Node> from;
    bool by_key = false;  ///< Rows go to the subtask that owns their key.
  };

  Role role = Role::steps;
  std::string name;  ///< Empty for steps, which keep nothing.
  std::vector<Input> inputs;
  MakeStage make;
  const RowType* out = nullptr;  ///< Null: no rows of its own (a sink; a source before its steps).
  std::string address;           ///< Of a source.
  std::optional<SinkDescription> sink;
};
using NodePtr = std::shared_ptr<const Node>;

}  // namespace millrace
