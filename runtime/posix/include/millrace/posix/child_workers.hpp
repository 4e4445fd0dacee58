#pragma once

#include "millrace/env/workers.hpp"

namespace millrace::posix {

/// Children made by fork, each with a pipe for its lines.
///
/// A child ignores SIGINT, which a terminal sends to all: the parent decides, by `on_tick`, which
/// is asked at once when a signal arrives. Children never outlive the parent, however it ends. What
/// a child left unfinished of a line when it died is dropped. An exception that leaves the child's
/// function ends it by SIGABRT.
///
/// When `on_tick` says false, children are killed, the lines that they had written are delivered,
/// and `on_end` is not called for them. When a callback throws, they are killed as well.
class ChildWorkers final : public Workers {
 public:
  /// Throws IoError: no process or pipe could be made.
  void run(int count, const Child& child, const OnLine& on_line, const OnEnd& on_end,
           const OnTick& on_tick) override;
};

}  // namespace millrace::posix
