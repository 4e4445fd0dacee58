#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/env/table_look.hpp"

namespace millrace::conformance {

/// Files of a log: name and text.
using LogFiles = std::map<std::string, std::string>;

/// A world to try the seam in. Every test has one of its own.
///
/// The bodies of the tests see an Env and nothing else, and they make no assumption about how long
/// anything takes: only deadlines and order. Assertions stand in the body itself; the tasks that it
/// starts only gather what is to be judged after they were joined.
class TestWorld {
 public:
  virtual ~TestWorld() = default;

  /// Runs `body` as the task `test` of the node `worker1` to its end. What it throws comes out.
  virtual void run(const std::function<void(Env&)>& body) = 0;

  /// A directory of the node's disk that is there and empty.
  virtual std::string directory() = 0;

  /// Makes a log of these files and returns its address. Before `run`.
  virtual std::string make_log(const LogFiles& files) = 0;

  /// What any other program sees now of a table in the database that the node's tasks open.
  virtual TableLook look(const std::string& table, const TableVisit& visit) = 0;
};

/// A kind of world and how to make one.
struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<TestWorld>()> make;
};

/// All that the tests are run in. Another world joins by an entry in worlds.cpp.
std::vector<WorldKind> worlds();

/// The real world with each of its networks (posix_world.cpp).
std::unique_ptr<TestWorld> make_posix_world_in_memory();
std::unique_ptr<TestWorld> make_posix_world_over_tcp();

/// The simulated world with each of its databases (sim_world.cpp).
std::unique_ptr<TestWorld> make_sim_world();
std::unique_ptr<TestWorld> make_sim_world_with_memory_database();

/// Every database there is: those of the real and of the simulated world.
std::vector<WorldKind> databases();

/// What a database's path is in every world. A world has one.
inline constexpr const char* database_path = "sink.db";

/// Runs a test's body in a new world of each kind, as a section named after it.
void in_every_world(const std::function<void(Env&)>& body);
void in_every_world_with_directory(
    const std::function<void(Env&, const std::string& directory)>& body);
void in_every_world_with_log(const LogFiles& files,
                             const std::function<void(Env&, const std::string& address)>& body);
void in_every_database(const std::function<void(Env&, TestWorld& world)>& body);

}  // namespace millrace::conformance
