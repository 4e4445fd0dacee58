#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "millrace/env/env.hpp"
#include "millrace/sim/draws.hpp"

#include "fiber.hpp"
#include "log_client.hpp"
#include "node.hpp"
#include "node_disk.hpp"
#include "scheduler.hpp"
#include "sink_client.hpp"
#include "store_client.hpp"

namespace millrace::sim {

/// A task of a simulated node: a fiber, and the world as that fiber sees it.
///
/// Once its node is dead every call throws Killed and does nothing, so that a dead program runs no
/// further than its own memory.
class Task final : public std::enable_shared_from_this<Task>,
                   public Clock,
                   public Parker,
                   public Tasks,
                   public millrace::Network,
                   public Host,
                   public Chance,
                   public Landmarks,
                   public UserCode,
                   private Event {
 public:
  Task(Node& node, std::uint32_t id, std::string role, std::function<void(Env&)> body,
       std::shared_ptr<Task> starter);

  std::uint32_t id() const { return id_; }
  Node& node() { return node_; }
  const std::string& role() const { return env_.role; }
  std::uint32_t life() const { return life_; }
  std::uint64_t next_rank();

  bool is_alive() const { return life_ == node_.life && node_.process_is_up(); }
  bool has_ended() const { return fiber_.done(); }
  bool has_started() const { return fiber_.started(); }
  std::string describe() const;
  /// Every call begins with it. Throws Killed if the node is dead.
  void check_alive() const {
    if (!is_alive()) throw Killed{};
  }
  /// Every call that may wait begins with it. Throws Killed, Cancelled.
  void check() const {
    check_alive();
    if (cancelled_) throw Cancelled{};
  }

  /// Lets time pass for a device; deaf to unparks, so that none is lost. Returns whether the task
  /// is still alive: SQLite's C frames between here and there cannot be thrown through.
  bool wait_for_device(const Timings::Range& range, Site site);

  /// Leaves the running task without ever coming back. For violations.
  [[noreturn]] void leave_for_ever();

  void run() { fiber_.resume(); }
  void cancel();
  void abandon() { fiber_.abandon(); }

  // Clock
  Instant now() override;
  EventTime wall() override;
  // Parker
  bool park_until(Instant deadline) override;
  void unpark() override;
  void step(Site site) override;
  // Tasks
  std::unique_ptr<RunningTask> start(std::string role, std::function<void(Env&)> body) override;
  // Network
  std::unique_ptr<Listener> listen(std::string_view service) override;
  std::unique_ptr<Connection> connect(const Endpoint& to, Lane lane, Instant deadline) override;
  // Host
  std::vector<std::string> peers(std::string_view kind) override;
  bool stop_requested() override;
  void report(const Progress& progress) override;
  void note(std::string_view sentence) override;
  // Chance
  std::uint64_t below(Site site, std::uint64_t bound, std::uint32_t part) override;
  std::uint64_t unique(Site site) override;
  std::uint64_t explore(Site site, std::uint64_t bound, std::uint32_t part) override {
    return below(site, bound, part);
  }
  // Landmarks
  void reached(const Landmark& landmark, std::string_view role,
               const LandmarkFields& fields) override;
  // UserCode
  void execute(std::string_view role, const Effect& effect) override;
  bool is_watched() const override;
  void ran(std::string_view role, const FunctionRun& run) override;

 private:
  enum class Waiting : std::uint8_t { no, parked, for_device };

  void fire() override;  ///< The timer.
  void body();
  void wait(Waiting how, Instant deadline);
  void become_ready();
  void arm(Instant deadline);

  Node& node_;
  std::uint32_t id_;
  std::uint32_t life_;
  std::shared_ptr<Task> starter_;
  std::function<void(Env&)> body_;
  std::string entity_;
  Draws product_draws_;
  Draws world_draws_;
  std::uint64_t rank_key_;
  std::uint64_t wakes_ = 0;

  Waiting waiting_ = Waiting::no;
  Instant deadline_ = Instant::never();
  Instant armed_ = Instant::never();   ///< The earliest timer of this task that is still to fire.
  bool unparked_ = false;              ///< Latched.
  std::uint32_t returns_at_once_ = 0;  ///< Of `park_until`, since the task last waited.
  bool cancelled_ = false;

  NodeDisk disk_;
  StoreClient store_;
  LogClient log_;
  SinkClients sinks_;
  Env env_;
  Fiber fiber_;
};

/// What the starter of a task holds.
class TaskHandle final : public RunningTask {
 public:
  TaskHandle(std::shared_ptr<Task> task, Task& owner) : task_(std::move(task)), owner_(owner) {}
  ~TaskHandle() override;
  void cancel() override { task_->cancel(); }
  bool join(Instant deadline) override;

 private:
  std::shared_ptr<Task> task_;
  Task& owner_;
};

}  // namespace millrace::sim
