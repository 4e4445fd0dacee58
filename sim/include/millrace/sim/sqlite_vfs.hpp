#pragma once

#include <memory>
#include <string>

#include "millrace/sim/world.hpp"

namespace millrace::sim {

/// What lets SQLite work on the disk of a simulated node: a virtual file system of its own.
///
/// Every write and sync takes virtual time, in which the node may die; then the call fails, as do
/// all later ones of that life, and nothing more reaches the disk. A power loss treats SQLite's
/// files like any others, so its journal meets our torn sectors. Locks and shared memory belong to
/// a life: a new one finds none.
///
/// The device makes the promise that SQLite assumes of a disk by default, and no more: a write that
/// is cut short does not damage bytes around it (powersafe overwrite).
///
/// While it lives it is SQLite's default, because that is where SQLite's one random generator takes
/// its seed; the constructor resets the generator, so that a run does not depend on earlier ones.
class SqliteVfs {
 public:
  SqliteVfs(World& world, NodeId node);
  ~SqliteVfs();
  SqliteVfs(const SqliteVfs&) = delete;
  SqliteVfs& operator=(const SqliteVfs&) = delete;

  /// What to open databases with.
  const std::string& name() const;

  class State;  ///< What SQLite's callbacks get.

 private:
  std::unique_ptr<State> state_;
};

}  // namespace millrace::sim
