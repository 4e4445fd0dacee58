#include "millrace/posix/thread_tasks.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/posix/random_chance.hpp"
#include "millrace/posix/real_clock.hpp"

namespace millrace::posix {
namespace {

/// For a task that was cancelled. Long enough for the slowest sync of a disk.
constexpr std::chrono::seconds longest_farewell{60};

/// The task that this process cannot go on with is named before it ends.
[[noreturn]] void end_process(const std::string& node, const std::string& role,
                              const char* reason) {
  std::fprintf(stderr, "millrace: task `%s` on %s: %s\n", role.c_str(), node.c_str(), reason);
  std::abort();
}

/// What a task and its handle share.
struct Life {
  std::shared_ptr<ThreadParker> parker = std::make_shared<ThreadParker>();
  std::shared_ptr<ThreadParker> starter;
  std::atomic<bool> ended = false;
  ThreadParker end_seen;  ///< Where the handle waits when it goes away.
};

/// One of the two places that see what leaves a task.
void run_to_end(const NodeDevices& devices, const std::string& role, Life& life,
                const std::function<void(Env&)>& body) {
  try {
    run_as_task(devices, role, life.parker, body);
  } catch (const Cancelled&) {
    // As it was asked to.
  } catch (const std::exception& error) {
    end_process(devices.node, role, error.what());
  } catch (...) {
    end_process(devices.node, role, "it threw something that is no error");
  }
}

class ThreadTask final : public RunningTask {
 public:
  ThreadTask(const NodeDevices& devices, std::string role, std::shared_ptr<ThreadParker> starter,
             std::function<void(Env&)> body)
      : devices_(devices), role_(std::move(role)) {
    life_->starter = std::move(starter);
    auto live = [&devices, role = role_, life = life_, body = std::move(body)]() mutable {
      run_to_end(devices, role, *life, body);
      body = nullptr;  // What it holds goes before anybody is told that the task has ended.
      life->ended = true;
      life->end_seen.unpark();
      life->starter->unpark();
    };
    try {
      thread_ = std::thread(std::move(live));
    } catch (const std::system_error& error) {
      throw WorldError(
          fmt::format("cannot start task `{}` on {}: {}", role_, devices.node, error.what()));
    }
  }

  ~ThreadTask() override {
    if (!thread_.joinable()) return;
    life_->parker->cancel();
    const Instant limit = RealClock().now() + longest_farewell;
    while (!life_->ended) {
      if (!life_->end_seen.park_until(limit) && !life_->ended) {
        end_process(devices_.node, role_, "it was cancelled and does not end");
      }
    }
    thread_.join();
  }

  void cancel() override { life_->parker->cancel(); }

  bool join(Instant deadline) override {
    ThreadParker& self = *life_->starter;
    self.throw_if_cancelled();
    InnerWait wait(self);
    while (!life_->ended) {
      if (RealClock().now() >= deadline) return false;
      wait.until(deadline);
    }
    if (thread_.joinable()) thread_.join();
    return true;
  }

 private:
  const NodeDevices& devices_;
  std::string role_;
  std::shared_ptr<Life> life_ = std::make_shared<Life>();
  std::thread thread_;
};

/// A thread is a task for as long as this lives.
class Entered {
 public:
  Entered(const NodeDevices& devices, const std::string& role, ThreadParker& parker)
      : registry_(devices.registry) {
    registry_.enter(devices.node, role, parker);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() { registry_.leave(); }

 private:
  TaskRegistry& registry_;
};

}  // namespace

void run_as_task(const NodeDevices& devices, const std::string& role,
                 const std::shared_ptr<ThreadParker>& parker,
                 const std::function<void(Env&)>& body) {
  const Entered entered(devices, role, *parker);
  ThreadTasks tasks(devices, parker);
  RandomChance chance;
  Env env{devices.node,    role,         devices.clock,     *parker,          tasks,
          devices.network, devices.disk, devices.store,     devices.log,      devices.sinks,
          devices.host,    chance,       devices.landmarks, devices.user_code};
  body(env);
}

ThreadTasks::ThreadTasks(const NodeDevices& devices, std::shared_ptr<ThreadParker> starter)
    : devices_(devices), starter_(std::move(starter)) {}

std::unique_ptr<RunningTask> ThreadTasks::start(std::string role, std::function<void(Env&)> body) {
  return std::make_unique<ThreadTask>(devices_, std::move(role), starter_, std::move(body));
}

}  // namespace millrace::posix
