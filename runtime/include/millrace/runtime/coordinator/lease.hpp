#pragma once

#include <memory>

#include "millrace/env/env.hpp"

namespace millrace {

/// Says "I am alive" in the store, on a task of its own, as often as others need to hear it.
class Lease {
 public:
  Lease(Env& env, Term term, std::chrono::nanoseconds lease);
  void end();

 private:
  std::unique_ptr<RunningTask> task_;
};

/// The newest heartbeat of a term's owner: a number that rises; 0 if there is none.
/// Throws Unavailable and other WorldErrors.
std::uint64_t read_heartbeat(Env& env, Term term);

}  // namespace millrace
