#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "millrace/env/channel.hpp"
#include "millrace/env/env.hpp"
#include "millrace/runtime/control/messages.hpp"
#include "millrace/runtime/control/timing.hpp"

namespace millrace {

struct WorkerJoined {
  std::string worker;
};
/// The conversation with a worker is over: it died, or is cut off, or has joined again.
struct WorkerLost {
  std::string worker;
};
struct WorkerSaid {
  std::string worker;
  ControlMessage message;
};
using MemberEvent = std::variant<WorkerJoined, WorkerLost, WorkerSaid>;

/// The workers that have joined a coordinator.
///
/// A task of its own talks with them, so that they hear the coordinator's heart beat while it waits
/// for a slow store.
class Members {
 public:
  Members(Env& env, ControlTiming timing);

  /// What has happened, in order; nothing if nothing has.
  std::optional<MemberEvent> try_next();
  /// Says something to a worker. One that is gone does not hear it.
  void send(const std::string& worker, ControlMessage message);

  /// Ends the conversations, when all that was said is on its way. The workers see their links
  /// break.
  void leave();

 private:
  struct Order {
    std::string worker;
    ControlMessage message;
  };
  struct Channels {
    Channel<MemberEvent> events{1024};
    Channel<Order> orders{1024};
  };
  class Talker;

  Env& env_;
  std::shared_ptr<Channels> channels_;
  std::unique_ptr<RunningTask> talker_;
};

}  // namespace millrace
