#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/env/sink_table.hpp"
#include "millrace/runtime/flow/stage.hpp"

namespace millrace {

/// Where a sink's rows go, as the committer and the coordinator need to know it.
struct SinkDescription {
  std::string name;      ///< The operator's.
  std::string database;  ///< What SinkTables::open is asked for.
  TableSchema schema;
};

/// A place for rows of T, described.
template <class T>
struct Sink {
  std::string kind;  ///< For people: "staged table".
  std::string database;
  TableSchema schema;
  /// Makes the stage that writes one subtask's rows; `name` is the operator's.
  std::function<std::unique_ptr<Consumer<T>>(const StageContext& context, const std::string& name)>
      open;
};

}  // namespace millrace
