#include "millrace/posix/process.hpp"

#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "millrace/env/anchor.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/files/file_log.hpp"
#include "millrace/posix/memory_network.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/posix/random_chance.hpp"
#include "millrace/posix/real_clock.hpp"
#include "millrace/posix/tcp_network.hpp"
#include "millrace/posix/thread_tasks.hpp"

#include "run_log.hpp"

namespace millrace::posix {
namespace {

/// A process has one life: it is never started again.
constexpr std::uint32_t only_life = 1;

/// Waits for the anchor at which the process is to die.
class DeathWatch {
 public:
  explicit DeathWatch(const std::string& anchor) {
    if (!anchor.empty()) watch_.emplace(parse_anchor(anchor));
  }

  bool is_set() const { return watch_.has_value(); }

  void observe(const Landmark& landmark, std::string_view role, const LandmarkFields& fields) {
    if (!is_set()) return;
    const std::lock_guard lock(mutex_);
    if (!watch_->observe(landmark, role, only_life, fields)) return;
    ::kill(::getpid(), SIGKILL);
    // The lock is not let go, so no other landmark is reached any more.
    while (true) ::pause();
  }

 private:
  std::mutex mutex_;
  std::optional<AnchorWatch> watch_;
};

/// Unlike every other process's. The number alone is not enough: each container counts from 1.
std::string writer_name() {
  RandomChance chance;
  return fmt::format("{}-{:08x}", ::getpid(),
                     chance.below(Site("process.writer"), std::uint64_t{1} << 32));
}

std::string text_of(const Landmark& landmark, std::string_view role, const LandmarkFields& fields) {
  auto text =
      fmt::format("{} {} term={} n={}", role, landmark.name, fields.id.term.number, fields.id.n);
  if (fields.subtask >= 0) text += fmt::format(" subtask={}", fields.subtask);
  if (fields.retry != 0) text += fmt::format(" retry={}", fields.retry);
  if (fields.count != 0) text += fmt::format(" count={}", fields.count);
  return text;
}

}  // namespace

/// What all nodes share.
class Process::World {
 public:
  World(ProcessOptions given, SinkTables& sink_tables)
      : options(std::move(given)),
        sinks(sink_tables),
        run_log(options.log_file, clock),
        death(options.kill_at),
        store(disk, options.store_directory, writer_name()) {
    if (options.networking == ProcessOptions::Networking::tcp) {
      networks = std::make_unique<TcpNetwork>(registry, ports);
    } else {
      networks = std::make_unique<MemoryNetwork>(registry);
    }
  }

  const ProcessOptions options;
  SinkTables& sinks;
  RealClock clock;
  RunLog run_log;
  DeathWatch death;
  PosixDisk disk;
  DirectoryStore store;
  FileLog log{disk};
  TaskRegistry registry;
  PortTable ports;
  std::unique_ptr<NodeNetworks> networks;
  const std::shared_ptr<ThreadParker> outside = std::make_shared<ThreadParker>();
  std::atomic<bool> stop_requested = false;
  std::mutex mutex;  ///< Of what follows.
  Progress progress;
  std::vector<std::string> notes;
  std::map<std::string, std::unique_ptr<Node>> nodes;
};

/// A node's own part of the world.
class Process::Node final : public Host, public Landmarks, public UserCode {
 public:
  Node(World& world, std::string name)
      : world_(world),
        watched_(world.run_log.is_open() || world.death.is_set()),
        network_(world.networks->of(name)),
        devices_{std::move(name), world.registry, world.clock, *network_, world.disk, world.store,
                 world.log,       world.sinks,    *this,       *this,     *this} {}

  const NodeDevices& devices() const { return devices_; }

  std::vector<std::string> peers(std::string_view kind) override {
    if (kind == "coordinator") return world_.options.coordinators;
    if (kind == "worker") return world_.options.workers;
    return {};
  }
  bool stop_requested() override { return world_.stop_requested; }
  void report(const Progress& progress) override {
    const std::lock_guard lock(world_.mutex);
    world_.progress = progress;
  }
  void note(std::string_view sentence) override {
    world_.run_log.line(fmt::format("{} {}", devices_.node, sentence));
    const std::lock_guard lock(world_.mutex);
    world_.notes.emplace_back(sentence);
  }

  void execute(std::string_view role, const Effect& effect) override {
    const auto service = world_.options.services.find(effect.service);
    if (service == world_.options.services.end()) {
      throw JobFailed(
          fmt::format("{}: there is no service `{}` to ask for an effect", role, effect.service));
    }
    service->second(effect.request, effect.key);
  }

  void reached(const Landmark& landmark, std::string_view role,
               const LandmarkFields& fields) override {
    if (!watched_) [[likely]]
      return;
    if (landmark.kind == Landmark::Kind::protocol && world_.run_log.is_open()) {
      world_.run_log.line(fmt::format("{} {}", devices_.node, text_of(landmark, role, fields)));
    }
    world_.death.observe(landmark, role, fields);
  }

 private:
  World& world_;
  const bool watched_;  ///< Whether anybody wants to know of landmarks.
  std::unique_ptr<Network> network_;
  const NodeDevices devices_;
};

Process::Process(ProcessOptions options, SinkTables& sinks)
    : world_(std::make_unique<World>(std::move(options), sinks)) {}

Process::~Process() {
  invariant(world_->registry.count() == 0,
            "tasks end before the process that lends them its world");
}

std::unique_ptr<RunningTask> Process::start(const std::string& node_name, std::string role,
                                            std::function<void(Env&)> body) {
  return ThreadTasks(node(node_name).devices(), world_->outside)
      .start(std::move(role), std::move(body));
}

void Process::run(const std::string& node_name, const std::string& role,
                  const std::function<void(Env&)>& body) {
  run_as_task(node(node_name).devices(), role, std::make_shared<ThreadParker>(), body);
}

void Process::request_stop() { world_->stop_requested = true; }

Progress Process::progress() const {
  const std::lock_guard lock(world_->mutex);
  return world_->progress;
}

std::vector<std::string> Process::take_notes() {
  const std::lock_guard lock(world_->mutex);
  return std::exchange(world_->notes, {});
}

Clock& Process::clock() { return world_->clock; }
Disk& Process::disk() { return world_->disk; }
DirectoryStore& Process::store() { return world_->store; }
PortTable& Process::ports() { return world_->ports; }

Process::Node& Process::node(const std::string& name) {
  const std::lock_guard lock(world_->mutex);
  auto& found = world_->nodes[name];
  if (found == nullptr) found = std::make_unique<Node>(*world_, name);
  return *found;
}

}  // namespace millrace::posix
