#include "sqlite_stage.hpp"

#include <utility>
#include <variant>

#include "millrace/env/error.hpp"

namespace millrace::sim {

SqliteStage::SqliteStage(Body body, Seed seed, const Timings& timings)
    : Stage(seed, timings),
      node(world.add_node("database", "database",
                          [this, body = std::move(body)](Env& env) {
                            try {
                              body(env, vfs_.name());
                            } catch (const WorldError&) {
                              env.now();  // Throws Killed if that is why.
                              throw;
                            }
                          })),
      vfs_(world, node) {}

SqliteStage::~SqliteStage() { world.shut_down(); }

std::int64_t number(Database& database, const std::string& sql) {
  Statement statement(database, sql);
  statement.step();
  const Cell value = statement.column(0);
  const auto* found = std::get_if<std::int64_t>(&value);
  return found == nullptr ? 0 : *found;
}

}  // namespace millrace::sim
