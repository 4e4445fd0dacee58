#include "worlds.hpp"

#include <catch2/catch.hpp>

namespace millrace::conformance {

std::vector<WorldKind> worlds() {
  return {{"posix, network in memory", make_posix_world_in_memory},
          {"posix, network over TCP", make_posix_world_over_tcp},
          {"simulated", make_sim_world}};
}

std::vector<WorldKind> databases() {
  return {{"SQLite on real files", make_posix_world_in_memory},
          {"SQLite on a simulated disk", make_sim_world},
          {"in memory, simulated", make_sim_world_with_memory_database}};
}

void in_every_world(const std::function<void(Env&)>& body) {
  for (const auto& kind : worlds()) {
    DYNAMIC_SECTION(kind.name) { kind.make()->run(body); }
  }
}

void in_every_world_with_directory(
    const std::function<void(Env&, const std::string& directory)>& body) {
  for (const auto& kind : worlds()) {
    DYNAMIC_SECTION(kind.name) {
      const auto world = kind.make();
      const auto directory = world->directory();
      world->run([&](Env& env) { body(env, directory); });
    }
  }
}

void in_every_world_with_log(const LogFiles& files,
                             const std::function<void(Env&, const std::string& address)>& body) {
  for (const auto& kind : worlds()) {
    DYNAMIC_SECTION(kind.name) {
      const auto world = kind.make();
      const auto address = world->make_log(files);
      world->run([&](Env& env) { body(env, address); });
    }
  }
}

void in_every_database(const std::function<void(Env&, TestWorld& world)>& body) {
  for (const auto& kind : databases()) {
    DYNAMIC_SECTION(kind.name) {
      const auto world = kind.make();
      world->run([&](Env& env) { body(env, *world); });
    }
  }
}

}  // namespace millrace::conformance
