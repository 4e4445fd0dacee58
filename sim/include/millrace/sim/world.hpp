#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/sim/disk.hpp"
#include "millrace/sim/disturbance.hpp"
#include "millrace/sim/draws.hpp"
#include "millrace/sim/node_id.hpp"
#include "millrace/sim/stack_pool.hpp"
#include "millrace/sim/trace.hpp"

namespace millrace::sim {

class Network;
class Scheduler;
class Task;
struct Node;

/// What a node is doing.
enum class NodeState : std::uint8_t {
  up,
  paused,  ///< Alive, but nothing runs. Its connections stay open.
  killed,  ///< The process is dead; the machine is up and refuses connections.
  dark,    ///< The machine is off: nobody answers.
};

/// A task reached a landmark.
struct LandmarkEvent {
  NodeId node;
  std::uint32_t life;
  const Landmark& landmark;
  std::string_view role;
  const LandmarkFields& fields;
};

/// Who watches what users' functions do. Everything happens to nobody else: an effect has no time,
/// cannot fail, and is done as soon as it is asked for.
class UserCodeWatch {
 public:
  virtual ~UserCodeWatch() = default;
  virtual void executed(std::string_view role, const Effect& effect) = 0;
  virtual void ran(std::string_view role, const FunctionRun& run) = 0;
};

/// A broken invariant.
struct Violation {
  std::string claim;
  std::string file;
  int line = 0;
};

/// How fast devices are. All are drawn per use; the smaller value is the harmless one.
struct Timings {
  struct Range {
    std::chrono::nanoseconds least, most;
  };
  Range step{std::chrono::microseconds(1), std::chrono::microseconds(20)};
  Range message{std::chrono::microseconds(100), std::chrono::microseconds(800)};
  Range slow_message{std::chrono::milliseconds(1), std::chrono::milliseconds(100)};
  Ratio slow{1, 1000};  ///< How many messages are slow.
  Range local_message{std::chrono::microseconds(2), std::chrono::microseconds(10)};
  Range disk_write{std::chrono::microseconds(10), std::chrono::microseconds(50)};
  Range disk_sync{std::chrono::microseconds(500), std::chrono::milliseconds(3)};
  std::size_t window_bytes = 64 * 1024;  ///< Sent and not yet read, per direction of a connection.
};

/// One seeded world: nodes with clocks, disks and a network, in one thread and virtual time.
///
/// Knows nothing of what runs in it: a node runs the function it was given, once per life. Equal
/// seeds and equal functions give equal runs, event by event (trace_hash).
///
/// Not to be used from several threads; one world at a time per process, because SQLite's random
/// numbers and the handler of violations are the process's.
class World {
 public:
  /// What a node does in each of its lives.
  using Boot = std::function<void(Env&)>;

  World(Seed seed, const Timings& timings, StackPool& stacks);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Building.

  /// `kind` is what Host::peers finds it by; `boot` is the body of its first task, whose role is
  /// the node's name.
  NodeId add_node(std::string name, std::string kind, Boot boot);
  std::optional<NodeId> find_node(std::string_view name) const;
  std::size_t node_count() const { return nodes_.size(); }
  const std::string& name_of(NodeId node) const;
  SimDisk& disk_of(NodeId node);

  // Lives. All may be called from a listener; a task of the node itself then never returns from
  // the call that led there.

  /// Starts a node that is not up; one more life.
  void start(NodeId node);
  /// The process dies. What it wrote stays readable; what others sent it is lost.
  void kill(NodeId node);
  /// The machine loses power: what was not synced is at the mercy of the seed.
  void lose_power(NodeId node);
  /// Nothing of the node runs until `wake`. It does not notice.
  void pause(NodeId node);
  void wake(NodeId node);
  NodeState state_of(NodeId node) const;
  std::uint32_t life_of(NodeId node) const;

  // Disturbances (disturbance.hpp). All may be called from a listener.

  /// Nothing gets through any more. What is sent waits and comes when the cut ends, in its order,
  /// unless its sender has died by then; no connection comes about, none ends, nobody is told.
  Disturbance cut(const Between& between, Way way, TookEffect took_effect);
  /// Everything takes longer by so much.
  Disturbance slow(const Between& between, std::chrono::nanoseconds by, TookEffect took_effect);
  /// Frames of control lanes are lost, repeated and held.
  Disturbance disturb_frames(const Between& between, const FrameChances& chances,
                             TookEffect took_effect);
  /// Operations of a disk fail.
  Disturbance trouble_disk(NodeId node, DiskTrouble trouble, TookEffect took_effect);
  /// Of the next request of that kind (device_operations.hpp; `*`: of any) that the server of a
  /// device carries out, the answer is lost.
  Disturbance lose_answer(NodeId server, std::string operation, TookEffect took_effect);
  /// The next such request is carried out so much later than it arrived.
  Disturbance delay_answer(NodeId server, std::string operation, std::chrono::nanoseconds by,
                           TookEffect took_effect);
  /// Calls `action` as somebody is about to do the `nth` thing from now to the node's disk. What it
  /// does to the node's life comes before that, so if the node dies it is not done.
  Disturbance at_disk_operation(NodeId node, std::uint64_t nth, std::function<void()> action);
  /// Undoes a disturbance. What has ended, or was there only for once, is ended again in vain.
  void end(Disturbance disturbance);

  /// Resets the connections: both sides lose them, and what they had not read. Returns how many.
  std::size_t reset_connections(const Between& between);

  // Time.

  Instant now() const;
  /// Calls `action` at an instant, on the main stack.
  void at(Instant instant, std::function<void()> action);

  // Running.

  enum class Ended : std::uint8_t {
    stopped,   ///< Somebody called `stop`.
    limit,     ///< Virtual time reached the limit.
    idle,      ///< Nothing will ever happen again.
    violated,  ///< An invariant did not hold; see `violation`.
  };
  Ended run_until(Instant limit);
  /// Ends every life, so that nothing of what ran here runs any more. Also done by the destructor;
  /// before it by those who own something that the nodes use.
  void shut_down();
  /// Ends `run_until` before the next event.
  void stop();

  // Looking.

  using Listener = std::function<void(const LandmarkEvent&)>;
  void on_landmark(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// Sentences and reports of the nodes, with their time.
  using NoteListener = std::function<void(NodeId, std::string_view)>;
  void on_note(NoteListener listener) { note_listener_ = std::move(listener); }

  /// Null: nobody watches. Changes no run.
  void watch_user_code(UserCodeWatch* watch) { user_code_watch_ = watch; }

  /// While it lives, devices are used without time and trace: for judges, who look from outside.
  class Outside {
   public:
    explicit Outside(World& world) : world_(world) { ++world_.outside_; }
    ~Outside() { --world_.outside_; }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    World& world_;
  };
  bool is_outside() const { return outside_ != 0; }

  /// The roles of a node's living tasks, in the order of their start.
  std::vector<std::string> roles_of(NodeId node) const;
  /// What every living task is doing, a sentence each: for people who ask why nothing goes on.
  std::vector<std::string> describe_tasks() const;

  const std::optional<Violation>& violation() const { return violation_; }
  Trace& trace() { return trace_; }
  std::uint64_t switches() const;
  std::uint64_t messages() const;

  // For the parts of the simulator itself.

  Scheduler& scheduler() { return *scheduler_; }
  Network& network() { return *network_; }
  Node& node(NodeId id) { return *nodes_[id.index]; }
  Node* find(std::string_view name);
  const Timings& timings() const { return timings_; }
  Seed seed() const { return seed_; }
  StackPool& stacks() { return stacks_; }
  std::vector<std::string> names_of_kind(std::string_view kind) const;
  std::shared_ptr<Task> start_task(Node& node, std::string role, World::Boot body, Task* starter);
  void reached(Task& task, const Landmark& landmark, std::string_view role,
               const LandmarkFields& fields);
  void note(Task& task, std::string_view sentence);
  UserCodeWatch* user_code_watch() const { return user_code_watch_; }
  [[noreturn]] void violate(std::string_view claim, Where where);

 private:
  class Callback;
  void end_life(Node& node, NodeState state);
  Disturbance next_disturbance() { return {++disturbances_}; }
  void bury_the_dead();

  Seed seed_;
  Timings timings_;
  StackPool& stacks_;
  UserCodeWatch* user_code_watch_ = nullptr;
  Trace trace_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::shared_ptr<Task>> dying_;  ///< Newest first; unwound before anything else runs.
  std::vector<std::shared_ptr<Task>> buried_;
  std::vector<std::unique_ptr<Callback>> callbacks_;
  std::vector<Listener> listeners_;
  NoteListener note_listener_;
  std::optional<Violation> violation_;
  std::uint32_t task_count_ = 0;
  std::uint64_t disturbances_ = 0;
  int outside_ = 0;
  bool stopped_ = false;
};

}  // namespace millrace::sim
