#include "millrace/runtime/worker/deployment.hpp"

#include <algorithm>

#include "millrace/runtime/worker/services.hpp"

namespace millrace {
namespace {

/// Orders are few, and tasks take them between batches. One that has not taken so many is stuck.
constexpr std::size_t order_room = 256;

void run_and_report(Env& env, const ChainPlan& plan, SourceCounters& counters) {
  // A task ends here, whatever ended it. Its error is the coordinator's to judge.
  try {
    run_chain(env, plan, counters);
  } catch (const std::exception&) {
    plan.report(
        TaskFailed{plan.term, env.role, describe_failure(std::current_exception(), env.role)});
  }
}

}  // namespace

Deployment::Deployment(Env& env, const Job& job, const Deploy& order,
                       std::optional<std::uint64_t> records_per_second, SourceCounters& counters,
                       const Report& report)
    : term_(order.term), layout_(plan_layout(job, static_cast<int>(order.parallelism))) {
  const auto manifest = std::make_shared<const Manifest>(
      decode_manifest(order.manifest, "the manifest of a deployment"));
  plan_members(env.node, order, manifest, records_per_second, report);
  start(env, counters);
}

void Deployment::plan_members(const std::string& node, const Deploy& order,
                              const std::shared_ptr<const Manifest>& manifest,
                              std::optional<std::uint64_t> records_per_second,
                              const Report& report) {
  const std::vector<std::string>& workers = order.workers;
  const auto is_here = [&](int subtask) {
    return workers[static_cast<std::size_t>(subtask) % workers.size()] == node;
  };
  for (std::size_t c = 0; c < layout_.chains.size(); ++c) {
    const ChainLayout& chain = layout_.chains[c];
    for (int i = 0; i < chain.parallelism; ++i) {
      if (!is_here(i)) continue;
      ChainPlan plan;
      plan.chain = &chain;
      plan.at = {i, chain.parallelism};
      plan.term = term_;
      plan.restored = manifest;
      plan.upload_patience = std::chrono::nanoseconds(order.upload_patience_ns);
      plan.orders = std::make_shared<TaskOrders>(order_room);
      plan.report = report;
      plan.local_inputs.resize(static_cast<std::size_t>(chain.lanes()));
      for (const EdgeLayout& edge : chain.inputs) {
        for (int lane = 0; lane < edge.lanes; ++lane) {
          if (!edge.is_straight && !is_here(lane)) continue;
          plan.local_inputs[static_cast<std::size_t>(edge.first_lane + lane)] =
              std::make_shared<LaneChannel>(lane_room);
        }
      }
      if (chain.is_source() && records_per_second) {
        // The job's rate, dealt out; the first subtasks take what does not divide.
        const auto of = static_cast<std::uint64_t>(chain.parallelism);
        const auto index = static_cast<std::uint64_t>(i);
        plan.records_per_second =
            *records_per_second / of + (index < *records_per_second % of ? 1 : 0);
      }
      members_[task_name(chain.name, i)].plan = std::move(plan);
    }
  }
  for (std::size_t c = 0; c < layout_.chains.size(); ++c) {
    const ChainLayout& chain = layout_.chains[c];
    for (int i = 0; i < chain.parallelism; ++i) {
      if (!is_here(i)) continue;
      members_.at(task_name(chain.name, i)).plan.outputs =
          outputs_of(static_cast<int>(c), {i, chain.parallelism}, node, workers);
    }
  }
}

std::vector<LaneTarget> Deployment::outputs_of(int chain, Subtask at, const std::string& node,
                                               const std::vector<std::string>& workers) {
  std::vector<LaneTarget> targets;
  for (const ChainLayout& consumer : layout_.chains) {
    for (const EdgeLayout& edge : consumer.inputs) {
      if (edge.from != chain) continue;
      for (int i = 0; i < consumer.parallelism; ++i) {
        if (edge.is_straight && i != at.index) continue;
        LaneTarget target;
        target.stage = edge.from_stage;
        target.way = {edge.from_output, edge.is_straight ? 0 : i,
                      edge.is_straight ? 1 : consumer.parallelism};
        target.consumer = task_name(consumer.name, i);
        target.consumer_lane = edge.lane_from(at.index);
        const std::string& where = workers[static_cast<std::size_t>(i) % workers.size()];
        if (where == node) {
          target.local = members_.at(target.consumer)
                             .plan.local_inputs[static_cast<std::size_t>(target.consumer_lane)];
        } else {
          target.node = {where, std::string(data_service)};
        }
        targets.push_back(std::move(target));
      }
    }
  }
  return targets;
}

void Deployment::start(Env& env, SourceCounters& counters) {
  for (auto& [name, member] : members_) {
    member.running = env.tasks.start(name, [&plan = member.plan, &counters](Env& task_env) {
      run_and_report(task_env, plan, counters);
    });
  }
}

bool Deployment::attach(const LaneGreeting& greeting, std::unique_ptr<Connection> connection,
                        FrameReader reader) {
  const auto consumer = members_.find(greeting.consumer);
  if (consumer == members_.end() || greeting.lane < 0 ||
      greeting.lane >= consumer->second.plan.chain->lanes()) {
    return false;
  }
  tell(consumer->second, AttachLane{greeting.lane, std::move(connection), std::move(reader)});
  return true;
}

void Deployment::tell(Member& member, TaskOrder order) {
  // The worker never waits for a task: it has others, and the coordinator, to listen to.
  if (member.plan.orders->try_put(order)) return;
  Failure failure;
  failure.text = "a task has stopped taking orders";
  member.plan.report(TaskFailed{term_, task_name(member.plan.chain->name, member.plan.at.index),
                                std::move(failure)});
}

void Deployment::end() {
  for (auto& [name, member] : members_) member.running->cancel();
  for (auto& [name, member] : members_) member.running->join(Instant::never());
}

}  // namespace millrace
