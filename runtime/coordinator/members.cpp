#include "millrace/runtime/coordinator/members.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "millrace/env/invariant.hpp"
#include "millrace/runtime/control/link.hpp"
#include "millrace/runtime/worker/services.hpp"

namespace millrace {
namespace {

constexpr Site between_orders{"members.order"};

}  // namespace

/// The task's side.
class Members::Talker {
 public:
  Talker(Env& env, std::shared_ptr<Channels> channels, ControlTiming timing)
      : env_(env), channels_(std::move(channels)), timing_(timing) {}

  [[noreturn]] void run() {
    const auto listener = env_.network.listen(control_service);
    listener->bind(env_.parker);
    channels_->orders.bind(env_.parker);
    while (true) {
      while (auto connection = listener->try_accept()) {
        strangers_.push_back(std::make_unique<ControlLink>(env_, std::move(connection), timing_));
      }
      welcome_strangers();
      while (auto order = channels_->orders.try_take()) {
        env_.step(between_orders);
        const auto worker = workers_.find(order->worker);
        if (worker != workers_.end()) worker->second->send(order->message);
      }
      listen_to_workers();
      env_.parker.park_until(next_event());
    }
  }

 private:
  void tell(MemberEvent event) { channels_->events.put(std::move(event), env_.parker); }

  /// Who connects says first who it is.
  void welcome_strangers() {
    for (auto& link : strangers_) {
      try {
        const auto said = link->pump();
        if (said.empty()) continue;
        const auto* const join = std::get_if<Join>(&said.front());
        if (join == nullptr) throw CorruptBytes("a stranger did not say who it is");
        const std::string name = join->worker;
        if (workers_.erase(name) != 0) tell(WorkerLost{name});
        workers_[name] = std::move(link);
        tell(WorkerJoined{name});
        pass_on(name, {said.begin() + 1, said.end()});
      } catch (const WorldError&) {
        link.reset();
      }
    }
    std::erase_if(strangers_, [](const auto& link) { return link == nullptr; });
  }

  void listen_to_workers() {
    std::vector<std::string> lost;
    for (auto& [name, link] : workers_) {
      try {
        pass_on(name, link->pump());
      } catch (const WorldError&) {
        lost.push_back(name);
      }
    }
    for (const std::string& name : lost) {
      workers_.erase(name);
      tell(WorkerLost{name});
    }
  }

  void pass_on(const std::string& name, std::vector<ControlMessage> messages) {
    for (ControlMessage& message : messages) tell(WorkerSaid{name, std::move(message)});
  }

  Instant next_event() const {
    Instant next = Instant::never();
    for (const auto& link : strangers_) next = std::min(next, link->next_pump());
    for (const auto& [name, link] : workers_) next = std::min(next, link->next_pump());
    return next;
  }

  Env& env_;
  std::shared_ptr<Channels> channels_;
  ControlTiming timing_;
  std::vector<std::unique_ptr<ControlLink>> strangers_;
  std::map<std::string, std::unique_ptr<ControlLink>> workers_;
};

Members::Members(Env& env, ControlTiming timing)
    : env_(env), channels_(std::make_shared<Channels>()) {
  channels_->events.bind(env.parker);
  talker_ = env.tasks.start(
      "members", [channels = channels_, timing](Env& own) { Talker(own, channels, timing).run(); });
}

std::optional<MemberEvent> Members::try_next() { return channels_->events.try_take(); }

void Members::send(const std::string& worker, ControlMessage message) {
  channels_->orders.put({worker, std::move(message)}, env_.parker);
}

void Members::leave() {
  while (!channels_->orders.empty()) env_.parker.park_until(env_.in(std::chrono::milliseconds(1)));
  talker_->cancel();
  talker_->join(Instant::never());
}

}  // namespace millrace
