#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/runtime/worker/chain_task.hpp"

namespace millrace {

/// The tasks of one term on one worker: made together, ended together.
class Deployment {
 public:
  /// `order` names this worker among others. `report` may be called from any task of the node.
  Deployment(Env& env, const Job& job, const Deploy& order,
             std::optional<std::uint64_t> records_per_second, SourceCounters& counters,
             const Report& report);

  Term term() const { return term_; }

  /// Tells every task.
  template <class Order>
  void tell_all(const Order& order) {
    for (auto& [name, member] : members_) tell(member, TaskOrder(order));
  }
  /// Hands the lane that a producer has opened to its consumer. False: there is no such task here.
  bool attach(const LaneGreeting& greeting, std::unique_ptr<Connection> connection,
              FrameReader reader);

  /// Cancels all tasks and waits for their end. What they had begun may or may not have happened,
  /// as in a crash.
  void end();

 private:
  struct Member {
    ChainPlan plan;
    std::unique_ptr<RunningTask> running;
  };
  void tell(Member& member, TaskOrder order);
  void plan_members(const std::string& node, const Deploy& order,
                    const std::shared_ptr<const Manifest>& manifest,
                    std::optional<std::uint64_t> records_per_second, const Report& report);
  void start(Env& env, SourceCounters& counters);
  std::vector<LaneTarget> outputs_of(int chain, Subtask at, const std::string& node,
                                     const std::vector<std::string>& workers);

  Term term_;
  Layout layout_;
  std::map<std::string, Member, std::less<>> members_;  ///< By the task's name.
};

}  // namespace millrace
