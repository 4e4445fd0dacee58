#include "task.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include "millrace/env/invariant.hpp"
#include "millrace/sim/draw_book.hpp"

#include "network.hpp"

namespace millrace::sim {
namespace {

constexpr Site rank_site{"schedule.rank"};

/// So often a task may find that it need not wait, without waiting in between.
constexpr std::uint32_t most_returns_at_once = 100'000;

/// 1 January 2026: some date for those who ask.
constexpr EventTime date_at_start{1'767'225'600'000};

std::string entity_of(const Node& node, std::string_view role) {
  return fmt::format(FMT_COMPILE("{}/{}/life{}"), node.name, role, node.life);
}

}  // namespace

Task::Task(Node& node, std::uint32_t id, std::string role, std::function<void(Env&)> body,
           std::shared_ptr<Task> starter)
    : node_(node),
      id_(id),
      life_(node.life),
      starter_(std::move(starter)),
      body_(std::move(body)),
      entity_(entity_of(node, role)),
      product_draws_(node.world.seed(), Domain::product, entity_),
      world_draws_(node.world.seed(), Domain::world, entity_),
      rank_key_(
          draw_key(node.world.seed().value, Domain::world, rank_site.hash, hash_name(entity_))),
      disk_(*this),
      store_(*this),
      log_(*this),
      sinks_(*this),
      env_{node.name, std::move(role), *this, *this, *this, *this, disk_, store_,
           log_,      sinks_,          *this, *this, *this, *this},
      fiber_(node.world.stacks(), [this] { this->body(); }) {}

void Task::body() {
  // One of the two places where Killed and Cancelled end. Nothing else may come this far: a task
  // handles its own errors, and what it does not handle is a bug.
  try {
    body_(env_);
  } catch (const Killed&) {
  } catch (const Cancelled&) {
  } catch (const std::exception& error) {
    node_.world.violate(
        fmt::format("a task handles its errors; {} did not: {}", entity_, error.what()),
        Where::here());
  }
  body_ = nullptr;
  if (starter_ != nullptr) starter_->unpark();
}

std::string Task::describe() const {
  std::string what = entity_;
  switch (waiting_) {
    case Waiting::no: what += " is ready to run"; break;
    case Waiting::for_device: what += " waits for a device"; break;
    case Waiting::parked:
      what += deadline_ == Instant::never()
                  ? " waits to be woken"
                  : fmt::format(" waits to be woken, or until {} ms", deadline_.ns / 1'000'000);
      break;
  }
  if (node_.state == NodeState::paused) what += ", on a node that is paused";
  return what;
}

std::uint64_t Task::next_rank() {
  const Seed seed = node_.world.seed();
  const std::uint64_t number = wakes_++;
  const std::uint64_t usual = seed.quiet ? 0 : nth_draw(rank_key_, number);
  if (seed.book == nullptr) [[likely]]
    return usual;
  return seed.book->decide({Domain::world, rank_site, 0, hash_name(entity_)}, number, 0, usual);
}

void Task::cancel() {
  cancelled_ = true;
  if (waiting_ == Waiting::parked && is_alive()) become_ready();
}

void Task::become_ready() {
  waiting_ = Waiting::no;
  if (node_.state == NodeState::paused) {
    node_.held.push_back(this);
  } else {
    node_.world.scheduler().make_ready(*this);
  }
}

void Task::arm(Instant deadline) {
  // At most one useful timer per task lies in the heap: a later deadline waits for the earlier
  // timer, which then sets it. Thousands of deadlines that are never reached cost nothing.
  if (deadline >= armed_) return;
  armed_ = deadline;
  node_.world.scheduler().schedule(deadline, *this);
}

void Task::fire() {
  const Instant now = node_.world.scheduler().now();
  if (now >= armed_) armed_ = Instant::never();
  if (waiting_ == Waiting::no || !is_alive()) return;
  if (now >= deadline_) {
    become_ready();
  } else if (deadline_ != Instant::never()) {
    arm(deadline_);
  }
}

/// Inline for the same reason as the switch itself.
[[gnu::always_inline]] inline void Task::wait(Waiting how, Instant deadline) {
  invariant(node_.world.scheduler().current() == this, "only a task itself waits");
  waiting_ = how;
  deadline_ = deadline;
  if (deadline != Instant::never()) arm(deadline);
  fiber_.yield();
}

bool Task::park_until(Instant deadline) {
  check();
  if (!unparked_ && deadline > node_.world.scheduler().now()) {
    wait(Waiting::parked, deadline);
    check();
    returns_at_once_ = 0;
  } else {
    invariant(++returns_at_once_ < most_returns_at_once,
              "a task that waits for what has been lets time stand still");
  }
  return std::exchange(unparked_, false);
}

void Task::unpark() {
  unparked_ = true;
  if (waiting_ == Waiting::parked && is_alive()) become_ready();
}

void Task::step(Site site) {
  check();
  wait_for_device(node_.world.timings().step, site);
  check();
}

bool Task::wait_for_device(const Timings::Range& range, Site site) {
  World& world = node_.world;
  if (world.is_outside()) return true;
  if (!is_alive()) return false;
  const auto span = static_cast<std::uint64_t>((range.most - range.least).count());
  const auto cost = range.least + std::chrono::nanoseconds(world_draws_.below(site, span + 1));
  wait(Waiting::for_device, world.scheduler().now() + cost);
  returns_at_once_ = 0;
  return is_alive();
}

void Task::leave_for_ever() {
  waiting_ = Waiting::no;
  while (true) fiber_.yield();
}

Instant Task::now() {
  check_alive();
  return node_.world.scheduler().now();
}

EventTime Task::wall() { return {date_at_start.ms + node_.world.scheduler().now().ns / 1'000'000}; }

std::unique_ptr<RunningTask> Task::start(std::string role, std::function<void(Env&)> body) {
  check_alive();
  return std::make_unique<TaskHandle>(
      node_.world.start_task(node_, std::move(role), std::move(body), this), *this);
}

std::unique_ptr<Listener> Task::listen(std::string_view service) {
  check_alive();
  return node_.world.network().listen(*this, service);
}

std::unique_ptr<Connection> Task::connect(const Endpoint& to, Lane lane, Instant deadline) {
  check();
  return node_.world.network().connect(*this, to, lane, deadline);
}

std::vector<std::string> Task::peers(std::string_view kind) {
  return node_.world.names_of_kind(kind);
}

bool Task::stop_requested() { return false; }

void Task::report(const Progress&) {}

void Task::note(std::string_view sentence) { node_.world.note(*this, sentence); }

std::uint64_t Task::unique(Site site) {
  check_alive();
  return product_draws_.unique(site);
}

std::uint64_t Task::below(Site site, std::uint64_t bound, std::uint32_t part) {
  check_alive();
  return product_draws_.below(site, bound, part);
}

void Task::execute(std::string_view role, const Effect& effect) {
  check_alive();
  if (UserCodeWatch* const watch = node_.world.user_code_watch()) watch->executed(role, effect);
}

bool Task::is_watched() const { return node_.world.user_code_watch() != nullptr; }

void Task::ran(std::string_view role, const FunctionRun& run) {
  if (UserCodeWatch* const watch = node_.world.user_code_watch()) watch->ran(role, run);
}

void Task::reached(const Landmark& landmark, std::string_view role, const LandmarkFields& fields) {
  check_alive();
  node_.world.reached(*this, landmark, role, fields);
  // A fault may have been anchored here: the node may be dead now, or stand still.
  check_alive();
  if (node_.state == NodeState::paused) {
    waiting_ = Waiting::parked;
    deadline_ = Instant::never();
    become_ready();  // Held until the node wakes.
    fiber_.yield();
    check_alive();
  }
}

TaskHandle::~TaskHandle() {
  if (!task_->has_ended()) task_->cancel();
}

bool TaskHandle::join(Instant deadline) {
  owner_.check();
  InnerWait wait(owner_);
  while (!task_->has_ended()) {
    if (owner_.now() >= deadline) return false;
    wait.until(deadline);
  }
  return true;
}

}  // namespace millrace::sim
