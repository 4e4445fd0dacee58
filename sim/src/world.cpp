#include "millrace/sim/world.hpp"

#include <algorithm>

#include "millrace/env/invariant.hpp"

#include "network.hpp"
#include "node.hpp"
#include "scheduler.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

/// A dead task that does not end after so many resumes is given up.
constexpr int most_last_words = 1000;

/// The world that is running, for the one caller that cannot be given it: a broken invariant,
/// anywhere in the program.
World* running = nullptr;

void end_the_world(std::string_view claim, Where where) { running->violate(claim, where); }

/// Thrown instead of leaving a fiber, where there is none.
struct ViolationOnMainStack {};

}  // namespace

class World::Callback final : public Event {
 public:
  explicit Callback(std::function<void()> action) : action_(std::move(action)) {}
  void fire() override { std::exchange(action_, nullptr)(); }

 private:
  std::function<void()> action_;
};

World::World(Seed seed, const Timings& timings, StackPool& stacks)
    : seed_(seed),
      timings_(timings),
      stacks_(stacks),
      scheduler_(std::make_unique<Scheduler>(seed, trace_)),
      network_(std::make_unique<Network>(*this)) {}

World::~World() { shut_down(); }

void World::shut_down() {
  for (const auto& node : nodes_) {
    if (node->process_is_up()) end_life(*node, NodeState::dark);
  }
  if (!violation_) bury_the_dead();
}

NodeId World::add_node(std::string name, std::string kind, Boot boot) {
  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  Draws draws(seed_, Domain::world, "disk/" + name);
  nodes_.push_back(std::make_unique<Node>(*this, id, std::move(name), std::move(kind),
                                          std::move(boot), SimDisk(std::move(draws))));
  return id;
}

Node* World::find(std::string_view name) {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const auto& node) { return node->name == name; });
  return found == nodes_.end() ? nullptr : found->get();
}

std::optional<NodeId> World::find_node(std::string_view name) const {
  for (const auto& node : nodes_) {
    if (node->name == name) return node->id;
  }
  return std::nullopt;
}

const std::string& World::name_of(NodeId node) const { return nodes_[node.index]->name; }
SimDisk& World::disk_of(NodeId node) { return nodes_[node.index]->disk; }
NodeState World::state_of(NodeId node) const { return nodes_[node.index]->state; }
std::uint32_t World::life_of(NodeId node) const { return nodes_[node.index]->life; }
Instant World::now() const { return scheduler_->now(); }
std::uint64_t World::switches() const { return scheduler_->switches(); }
std::uint64_t World::messages() const { return network_->delivered(); }

std::vector<std::string> World::names_of_kind(std::string_view kind) const {
  std::vector<std::string> names;
  for (const auto& node : nodes_) {
    if (node->kind == kind) names.push_back(node->name);
  }
  return names;
}

void World::start(NodeId id) {
  Node& node = *nodes_[id.index];
  if (node.process_is_up()) return;
  node.state = NodeState::up;
  ++node.life;
  trace_.record(EventKind::life, id.index, node.life, 1, now().ns);
  start_task(node, node.name, node.boot, nullptr);
}

void World::kill(NodeId id) {
  Node& node = *nodes_[id.index];
  if (!node.process_is_up()) return;
  end_life(node, NodeState::killed);
  node.disk.release_locks();
}

void World::lose_power(NodeId id) {
  Node& node = *nodes_[id.index];
  if (!node.machine_is_up()) return;
  if (node.process_is_up()) {
    end_life(node, NodeState::dark);
  } else {
    node.state = NodeState::dark;
  }
  node.disk.lose_power();
}

void World::pause(NodeId id) {
  Node& node = *nodes_[id.index];
  if (node.state != NodeState::up) return;
  node.state = NodeState::paused;
  trace_.record(EventKind::life, id.index, node.life, 2, now().ns);
  scheduler_->remove_all(node, &node.held);
}

void World::wake(NodeId id) {
  Node& node = *nodes_[id.index];
  if (node.state != NodeState::paused) return;
  node.state = NodeState::up;
  trace_.record(EventKind::life, id.index, node.life, 3, now().ns);
  for (Task* const task : std::exchange(node.held, {})) scheduler_->make_ready(*task);
}

Disturbance World::cut(const Between& between, Way way, TookEffect took_effect) {
  return network_->disturb({next_disturbance(), between, LinkDisturbance::Cut{way}},
                           std::move(took_effect));
}

Disturbance World::slow(const Between& between, std::chrono::nanoseconds by,
                        TookEffect took_effect) {
  return network_->disturb({next_disturbance(), between, LinkDisturbance::Slow{by}},
                           std::move(took_effect));
}

Disturbance World::disturb_frames(const Between& between, const FrameChances& chances,
                                  TookEffect took_effect) {
  return network_->disturb({next_disturbance(), between, chances}, std::move(took_effect));
}

Disturbance World::trouble_disk(NodeId id, DiskTrouble trouble, TookEffect took_effect) {
  const Disturbance made = next_disturbance();
  node(id).disk_disturbances.push_back({made, trouble, std::move(took_effect)});
  return made;
}

Disturbance World::lose_answer(NodeId server, std::string operation, TookEffect took_effect) {
  const Disturbance made = next_disturbance();
  node(server).answer_disturbances.push_back(
      {made, std::move(operation), std::nullopt, std::move(took_effect)});
  return made;
}

Disturbance World::delay_answer(NodeId server, std::string operation, std::chrono::nanoseconds by,
                                TookEffect took_effect) {
  const Disturbance made = next_disturbance();
  node(server).answer_disturbances.push_back(
      {made, std::move(operation), by, std::move(took_effect)});
  return made;
}

Disturbance World::at_disk_operation(NodeId id, std::uint64_t nth, std::function<void()> action) {
  invariant(nth != 0, "operations of a disk are counted from 1");
  const Disturbance made = next_disturbance();
  node(id).disk_countdowns.push_back({made, nth, std::move(action)});
  return made;
}

void World::end(Disturbance disturbance) {
  network_->end(disturbance);
  for (const auto& node : nodes_) node->end(disturbance);
}

std::size_t World::reset_connections(const Between& between) { return network_->reset(between); }

void World::end_life(Node& node, NodeState state) {
  node.state = state;
  trace_.record(EventKind::life, node.id.index, node.life, 0, now().ns);
  network_->drop(node, state != NodeState::dark);
  scheduler_->remove_all(node, nullptr);
  node.held.clear();
  // The newest first: what a task refers to belongs to the task that started it.
  dying_.insert(dying_.end(), node.tasks.rbegin(), node.tasks.rend());
  node.tasks.clear();
  scheduler_->interrupt();
}

void World::bury_the_dead() {
  // The running task may be among them; it is unwound by itself, on its own stack.
  for (std::size_t i = 0; i < dying_.size(); ++i) {
    const std::shared_ptr<Task> task = dying_[i];
    if (task->has_started()) {
      for (int words = 0; !task->has_ended() && words < most_last_words; ++words) {
        scheduler_->resume(*task);
      }
    }
    task->abandon();
    buried_.push_back(task);
  }
  dying_.clear();
}

void World::stop() {
  stopped_ = true;
  scheduler_->interrupt();
}

void World::at(Instant instant, std::function<void()> action) {
  callbacks_.push_back(std::make_unique<Callback>(std::move(action)));
  scheduler_->schedule(instant, *callbacks_.back());
}

World::Ended World::run_until(Instant limit) {
  World* const outer = std::exchange(running, this);
  const ViolationHandler handler = set_violation_handler(&end_the_world);
  stopped_ = false;
  Ended ended = Ended::stopped;
  try {
    while (true) {
      if (violation_) {
        ended = Ended::violated;
        break;
      }
      if (!dying_.empty()) {
        bury_the_dead();
        continue;
      }
      if (stopped_) break;
      if (!scheduler_->any_ready()) {
        const bool is_idle = scheduler_->next_event() == Instant::never();
        if (is_idle || scheduler_->next_event() > limit) {
          ended = is_idle ? Ended::idle : Ended::limit;
          if (!is_idle) scheduler_->skip_to(limit);
          break;
        }
      }
      scheduler_->run(limit);
    }
  } catch (const ViolationOnMainStack&) {
    ended = Ended::violated;
  }
  set_violation_handler(handler);
  running = outer;
  return ended;
}

std::shared_ptr<Task> World::start_task(Node& node, std::string role, Boot body, Task* starter) {
  auto task = std::make_shared<Task>(node, ++task_count_, std::move(role), std::move(body),
                                     starter == nullptr ? nullptr : starter->shared_from_this());
  node.tasks.push_back(task);
  if (node.state == NodeState::paused) {
    node.held.push_back(task.get());
  } else {
    scheduler_->make_ready(*task);
  }
  return task;
}

void World::reached(Task& task, const Landmark& landmark, std::string_view role,
                    const LandmarkFields& fields) {
  const LandmarkEvent event{task.node().id, task.life(), landmark, role, fields};
  for (const Listener& listener : listeners_) listener(event);
}

void World::note(Task& task, std::string_view sentence) {
  if (note_listener_) note_listener_(task.node().id, sentence);
}

std::vector<std::string> World::roles_of(NodeId node) const {
  std::vector<std::string> roles;
  for (const auto& task : nodes_[node.index]->tasks) {
    if (!task->has_ended()) roles.push_back(task->role());
  }
  return roles;
}

std::vector<std::string> World::describe_tasks() const {
  std::vector<std::string> sentences;
  for (const auto& node : nodes_) {
    for (const auto& task : node->tasks) {
      if (!task->has_ended()) sentences.push_back(task->describe());
    }
  }
  return sentences;
}

void World::violate(std::string_view claim, Where where) {
  if (!violation_) violation_ = Violation{std::string(claim), where.file, where.line};
  scheduler_->interrupt();
  Task* const task = scheduler_->current();
  if (task == nullptr) throw ViolationOnMainStack{};
  task->leave_for_ever();
}

}  // namespace millrace::sim
