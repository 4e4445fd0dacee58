#include "millrace/runtime/worker/worker.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "millrace/env/channel.hpp"
#include "millrace/runtime/control/link.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/sink/committer.hpp"
#include "millrace/runtime/state/checkpoint_codec.hpp"
#include "millrace/runtime/state/key_hash.hpp"
#include "millrace/runtime/worker/deployment.hpp"
#include "millrace/runtime/worker/services.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site dial_pause{"worker.dial_pause"};
constexpr Site between_messages{"worker.message"};

constexpr auto dial_patience = 1s;
constexpr auto redial_pause = 100ms;
/// How long a lane waits for the deployment it belongs to.
constexpr auto lane_patience = 30s;
constexpr std::size_t report_room = 1024;

/// A connection to a coordinator, made by the task that dials it.
struct Dialled {
  std::string coordinator;
  std::unique_ptr<Connection> connection;
};
using DialledChannel = Channel<Dialled>;

/// Opens one connection to a coordinator. A task of its own, because a machine that is down does
/// not even refuse, and the worker has others to listen to.
void dial(Env& env, const std::string& coordinator, DialledChannel& dialled) {
  while (true) {
    try {
      auto connection = env.network.connect({coordinator, std::string(control_service)},
                                            Lane::control, env.in(dial_patience));
      if (connection != nullptr) {
        dialled.put({coordinator, std::move(connection)}, env.parker);
        return;
      }
    } catch (const WorldError&) {
      // Not there, or not now.
    }
    env.sleep(redial_pause + std::chrono::nanoseconds(env.chance.below(
                                 dial_pause, static_cast<std::uint64_t>(
                                                 std::chrono::nanoseconds(redial_pause).count()))));
  }
}

class Worker {
 public:
  Worker(Env& env, const Job& job, const WorkerOptions& options)
      : env_(env), job_(job), options_(options) {}

  [[noreturn]] void run() {
    const auto listener = env_.network.listen(data_service);
    listener->bind(env_.parker);
    dialled_.bind(env_.parker);
    reports_->bind(env_.parker);
    for (const std::string& name : env_.host.peers("coordinator")) start_dialling(name);
    while (true) {
      while (auto connection = listener->try_accept()) greet(std::move(connection));
      read_greetings();
      take_new_links();
      pump_links();
      forward_reports();
      count();
      env_.parker.park_until(next_event());
    }
  }

 private:
  struct Coordinator {
    std::unique_ptr<ControlLink> link;
    std::unique_ptr<RunningTask> dialler;
  };
  /// A lane whose producer has not yet said where it belongs, or whose consumer is not there yet.
  struct WaitingLane {
    std::unique_ptr<Connection> connection;
    FrameReader reader;
    std::optional<LaneGreeting> greeting;
    Instant give_up;
  };
  struct RunningCommitter {
    std::shared_ptr<PublishOrders> orders;
    std::unique_ptr<RunningTask> task;
  };

  void start_dialling(const std::string& name) {
    Coordinator& coordinator = coordinators_[name];
    coordinator.link.reset();
    if (coordinator.dialler != nullptr) coordinator.dialler->join(Instant::never());
    coordinator.dialler =
        env_.tasks.start("dial." + name, [this, name](Env& env) { dial(env, name, dialled_); });
  }

  void take_new_links() {
    while (auto dialled = dialled_.try_take()) {
      auto& coordinator = coordinators_.at(dialled->coordinator);
      coordinator.link =
          std::make_unique<ControlLink>(env_, std::move(dialled->connection), options_.timing);
      coordinator.link->send(Join{env_.node});
    }
  }

  void pump_links() {
    std::vector<std::string> lost;
    for (auto& [name, coordinator] : coordinators_) {
      if (coordinator.link == nullptr) continue;
      try {
        for (ControlMessage& message : coordinator.link->pump()) {
          env_.step(between_messages);
          hear(name, message);
        }
      } catch (const WorldError&) {
        lost.push_back(name);
      }
    }
    for (const std::string& name : lost) {
      if (owner_ == name) {
        // Nobody is left who could complete a checkpoint of these tasks.
        end_all();
        owner_.clear();
      }
      start_dialling(name);
    }
  }

  void hear(const std::string& from, ControlMessage& message) {
    const Term term = term_of(message);
    if (term < term_) return;  // An owner of the past.
    if (term > term_) {
      end_all();
      term_ = term;
      owner_ = from;
    }
    if (auto* recover = std::get_if<RecoverSink>(&message)) {
      start_committer(std::move(*recover));
    } else if (const auto* deploy = std::get_if<Deploy>(&message)) {
      deploy_tasks(*deploy);
    } else if (const auto* trigger = std::get_if<Trigger>(&message)) {
      if (deployment_) deployment_->tell_all(*trigger);
    } else if (const auto* abort = std::get_if<Abort>(&message)) {
      if (deployment_) deployment_->tell_all(*abort);
    } else if (const auto* published = std::get_if<Published>(&message)) {
      if (deployment_) deployment_->tell_all(*published);
    } else if (auto* publish = std::get_if<Publish>(&message)) {
      const auto committer = committers_.find(publish->sink);
      if (committer != committers_.end()) {
        invariant(committer->second.orders->try_put(*publish), "there is room for every publish");
      }
    } else if (std::holds_alternative<Withdraw>(message)) {
      end_all();
    }
  }

  void deploy_tasks(const Deploy& order) {
    if (deployment_) return;  // Came twice.
    if (order.workers.empty() || order.parallelism == 0 || order.parallelism > key_group_count) {
      throw CorruptBytes("a deployment that nobody can carry out");
    }
    counters_.records_read = 0;
    deployment_ = std::make_unique<Deployment>(env_, job_, order, options_.records_per_second,
                                               counters_, reporter());
  }

  void start_committer(const RecoverSink& order) {
    const SinkDescription* const sink = find_sink(order.sink);
    if (sink == nullptr || committers_.contains(order.sink)) return;
    RunningCommitter committer;
    committer.orders = std::make_shared<PublishOrders>(report_room);
    committer.task = env_.tasks.start(
        "committer." + order.sink, [order = std::make_shared<RecoverSink>(order), sink,
                                    orders = committer.orders, report = reporter()](Env& env) {
          try {
            run_committer(env, *sink, *order, *orders, report);
          } catch (const std::exception&) {
            report(TaskFailed{order->term, env.role,
                              describe_failure(std::current_exception(), env.role)});
          }
        });
    committers_[order.sink] = std::move(committer);
  }

  const SinkDescription* find_sink(const std::string& name) const {
    for (const Node* node : job_.nodes()) {
      if (node->sink && node->sink->name == name) return &*node->sink;
    }
    return nullptr;
  }

  /// What tasks report with. Their reports wait here until the worker forwards them.
  Report reporter() {
    return [reports = reports_, &tasks = *this](ControlMessage message) {
      tasks.put_report(*reports, std::move(message));
    };
  }
  void put_report(Channel<ControlMessage>& reports, ControlMessage message) {
    // A report is never refused for lack of room: there is one per task and checkpoint at most, and
    // far more room than tasks.
    invariant(reports.try_put(message), "there is room for every report");
  }

  void forward_reports() {
    while (auto report = reports_->try_take()) {
      if (term_of(*report) != term_) continue;
      const auto owner = coordinators_.find(owner_);
      if (owner == coordinators_.end() || owner->second.link == nullptr) continue;
      owner->second.link->send(*report);
    }
  }

  void greet(std::unique_ptr<Connection> connection) {
    connection->bind(env_.parker);
    waiting_.push_back({std::move(connection), {}, {}, env_.in(lane_patience)});
  }

  void read_greetings() {
    for (WaitingLane& lane : waiting_) {
      try {
        if (!lane.greeting) {
          if (const auto frame = lane.reader.next(*lane.connection)) {
            Decoder in(*frame);
            lane.greeting = decoded<LaneGreeting>(in);
          }
        }
      } catch (const WorldError&) {
        lane.connection.reset();  // The producer has gone, or is none of ours.
        continue;
      }
      const bool belongs_here =
          lane.greeting && deployment_ && lane.greeting->term == deployment_->term();
      if (belongs_here) {
        deployment_->attach(*lane.greeting, std::move(lane.connection), std::move(lane.reader));
      } else if ((lane.greeting && lane.greeting->term < term_) || env_.now() >= lane.give_up) {
        lane.connection.reset();
      }
    }
    std::erase_if(waiting_, [](const WaitingLane& lane) { return lane.connection == nullptr; });
  }

  void count() {
    if (!deployment_ || env_.now() < next_count_) return;
    next_count_ = env_.in(options_.timing.heartbeat);
    put_report(*reports_, Counters{term_, counters_.records_read.load()});
    forward_reports();
  }

  Instant next_event() const {
    Instant next = Instant::never();
    for (const auto& [name, coordinator] : coordinators_) {
      if (coordinator.link != nullptr) next = std::min(next, coordinator.link->next_pump());
    }
    for (const WaitingLane& lane : waiting_) next = std::min(next, lane.give_up);
    if (deployment_) next = std::min(next, next_count_);
    return next;
  }

  void end_all() {
    for (auto& [name, committer] : committers_) committer.task->cancel();
    if (deployment_) deployment_->end();
    for (auto& [name, committer] : committers_) committer.task->join(Instant::never());
    committers_.clear();
    deployment_.reset();
  }

  Env& env_;
  const Job& job_;
  const WorkerOptions& options_;
  Term term_;          ///< The newest that was heard of.
  std::string owner_;  ///< The coordinator that spoke in it.
  DialledChannel dialled_{16};
  std::shared_ptr<Channel<ControlMessage>> reports_ =
      std::make_shared<Channel<ControlMessage>>(report_room);
  SourceCounters counters_;
  Instant next_count_;
  std::map<std::string, Coordinator> coordinators_;
  std::vector<WaitingLane> waiting_;
  std::map<std::string, RunningCommitter> committers_;
  std::unique_ptr<Deployment> deployment_;
};

}  // namespace

void run_worker(Env& env, const Job& job, const WorkerOptions& options) {
  Worker(env, job, options).run();
}

}  // namespace millrace
