#pragma once

#include <functional>
#include <string>

#include "millrace/sim/sqlite_vfs.hpp"
#include "millrace/sqlite/database.hpp"

#include "stage.hpp"

namespace millrace::sim {

/// A stage with a node on whose disk SQLite works. The node is not started yet.
class SqliteStage : public Stage {
 public:
  using Body = std::function<void(Env&, const std::string& vfs)>;

  /// An error of the world that leaves `body` is passed over if the node is dead, because that is
  /// what SQLite's users meet then; else it is a violation.
  explicit SqliteStage(Body body, Seed seed = {7}, const Timings& timings = Timings{});
  ~SqliteStage();

  NodeId node;

 private:
  SqliteVfs vfs_;
};

/// The only number that `sql` finds.
std::int64_t number(Database& database, const std::string& sql);

}  // namespace millrace::sim
