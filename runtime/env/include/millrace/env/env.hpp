#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "millrace/env/chance.hpp"
#include "millrace/env/clock.hpp"
#include "millrace/env/disk.hpp"
#include "millrace/env/host.hpp"
#include "millrace/env/landmark.hpp"
#include "millrace/env/log.hpp"
#include "millrace/env/network.hpp"
#include "millrace/env/object_store.hpp"
#include "millrace/env/parker.hpp"
#include "millrace/env/sink_table.hpp"
#include "millrace/env/tasks.hpp"
#include "millrace/env/user_code.hpp"

namespace millrace {

/// The world, as one task sees it. Passed in, never found: whoever holds no Env touches no world.
///
/// Two worlds exist. In the real one a task is a thread; in the simulated one it is a fiber of one
/// thread, and time, disks, network and chance are functions of a seed. The code between is the
/// same, to the line.
struct Env {
  std::string node;  ///< Where the task runs: `worker1`.
  std::string role;  ///< What it does there: `window.1`.
  Clock& clock;
  Parker& parker;
  Tasks& tasks;
  Network& network;
  Disk& disk;
  ObjectStore& store;
  LogReader& log;
  SinkTables& sinks;
  Host& host;
  Chance& chance;
  Landmarks& landmarks;
  UserCode& user_code;

  Instant now() const { return clock.now(); }
  Instant in(std::chrono::nanoseconds span) const { return clock.now() + span; }
  void sleep(std::chrono::nanoseconds span) const;
  void step(Site site) const { parker.step(site); }
  void landmark(const Landmark& what, const LandmarkFields& fields = {}) const {
    landmarks.reached(what, role, fields);
  }

  /// The same task under another role: a chain of operators runs in one task, and each of them
  /// speaks for itself.
  Env as(std::string other_role) const {
    Env env = *this;
    env.role = std::move(other_role);
    return env;
  }
};

}  // namespace millrace
