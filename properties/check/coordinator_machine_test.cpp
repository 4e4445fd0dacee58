#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <rapidcheck/catch.h>
#include <rapidcheck/state.h>

#include "millrace/runtime/coordinator/checkpoint_failures.hpp"
#include "millrace/runtime/coordinator/checkpoint_schedule.hpp"
#include "millrace/runtime/coordinator/pending_checkpoint.hpp"
#include "millrace/runtime/coordinator/takeover.hpp"

// Schedule, count of failures and pending checkpoint, put together as whoever leads a term does it,
// against a coordinator that knows only which checkpoints there were and who has acknowledged them.

using namespace millrace;
using namespace std::chrono_literals;

namespace {

using Span = std::chrono::nanoseconds;

const std::set<std::string> tasks{"source.0", "window.0", "window.1"};

/// What whoever puts the parts together can get wrong.
enum class Bug : std::uint8_t {
  none,
  forgets_to_arm,                ///< One that was declined is not told to the schedule.
  believes_stale_declines,       ///< A task that declines an old one ends the pending one.
  counts_on,                     ///< A completed one does not make failures count anew.
  believes_any_acknowledgement,  ///< One of an old checkpoint counts for the pending one.
};

/// The coordinator in the abstract.
struct Model {
  CheckpointOptions options;
  Span now{0};
  std::uint64_t term = 1;
  std::uint64_t last_n = 0;
  std::optional<CheckpointId> pending;
  std::set<std::string> acknowledged;  ///< The pending one.
  Span triggered{0};                   ///< The last one; or when the term began.
  std::optional<Span> pause_since;     ///< The last one of this term was completed.
  bool has_failed = false;             ///< The last one.
  bool is_wanted = false;
  bool is_wanted_pending = false;
  bool has_ended = false;          ///< The input.
  bool has_ended_pending = false;  ///< When the pending one was triggered.
  bool has_last = false;
  std::uint32_t failures = 0;
  std::vector<CheckpointId> completed;
  std::uint32_t takeovers = 0;

  bool is_due() const {
    if (pending || has_last) return false;
    if (has_failed && now < triggered + std::min(options.interval, options.timeout)) return false;
    if (is_wanted) return true;
    const bool is_paused = pause_since && now < *pause_since + options.min_pause;
    return !is_paused && (has_failed || now >= triggered + options.interval);
  }

  void fail() {
    pending.reset();
    has_failed = true;
    is_wanted = is_wanted || is_wanted_pending;
    if (++failures <= options.tolerable_failures) return;
    // A term begins with nothing but what the head names, and sources say again that they ended.
    ++takeovers;
    ++term;
    last_n = 0;
    failures = 0;
    triggered = now;
    pause_since.reset();
    has_failed = false;
    is_wanted = has_ended;
  }

  void turn() {
    if (pending && acknowledged == tasks) {
      completed.push_back(*pending);
      pending.reset();
      failures = 0;
      has_failed = false;
      pause_since = now;
      has_last = has_ended_pending;
    }
    if (pending && now >= triggered + options.timeout) fail();
    if (!is_due()) return;
    pending = {{term}, ++last_n};
    acknowledged.clear();
    triggered = now;
    has_failed = false;
    is_wanted_pending = std::exchange(is_wanted, false);
    has_ended_pending = has_ended;
  }
};

Acknowledgement acknowledgement(std::string task, CheckpointId id, bool has_ended) {
  Acknowledgement made;
  made.id = id;
  made.task = std::move(task);
  if (made.task != "source.0") return made;
  PartitionProgress progress;
  progress.source = "source";
  progress.name = "a";
  progress.ended = has_ended;
  made.partitions = {progress};
  return made;
}

/// The parts, and what leads a term by them.
class Led {
 public:
  Led(const CheckpointOptions& options, Bug bug)
      : options_(options), bug_(bug), newest_(make_genesis({1, 2}, facts(), 1)) {
    begin_term();
  }

  void advance(Span span) { now_ = now_ + span; }
  void ask() { schedule_->ask(now_); }
  void end_input() {
    has_ended_ = true;
    schedule_->ask(now_);
  }
  void acknowledge(Acknowledgement one) {
    if (!pending_) return;
    if (bug_ == Bug::believes_any_acknowledgement) one.id = pending_->id();
    pending_->acknowledge(std::move(one));
  }
  void decline(CheckpointId id) {
    if (pending_ && (pending_->id() == id || bug_ == Bug::believes_stale_declines)) {
      give_up(bug_ != Bug::forgets_to_arm);
    }
  }
  void turn() {
    if (pending_ && pending_->is_complete()) complete();
    if (pending_ && now_ >= pending_->deadline()) give_up(true);
    if (!schedule_->is_due(now_)) return;
    pending_.emplace(CheckpointId{{term_}, ++last_n_}, tasks, now_ + options_.timeout);
    schedule_->triggered(now_);
  }

  std::optional<CheckpointId> pending() const {
    return pending_ ? std::optional(pending_->id()) : std::nullopt;
  }
  bool is_armed() const {
    return pending_ || newest_.has_all_input() || schedule_->next() != Instant::never();
  }
  const std::vector<CheckpointId>& completed() const { return completed_; }
  std::uint32_t takeovers() const { return takeovers_; }

 private:
  static JobFacts facts() { return {{}, {{"source", {"a", 100, 1}}}}; }

  void begin_term() {
    last_n_ = 0;
    schedule_.emplace(options_);
    failures_.emplace(options_);
    schedule_->start(now_);
    if (has_ended_) schedule_->ask(now_);
  }

  void complete() {
    newest_ = pending_->manifest_after(newest_, 1);
    pending_.reset();
    completed_.push_back(newest_.id);
    schedule_->completed(now_);
    if (bug_ != Bug::counts_on) failures_->completed(newest_.id);
    if (newest_.has_all_input()) schedule_->no_more();
  }

  void give_up(bool arms) {
    const CheckpointId id = pending_->id();
    pending_.reset();
    if (arms) schedule_->failed(now_);
    if (!failures_->failed(id)) return;
    ++takeovers_;
    ++term_;
    begin_term();
  }

  CheckpointOptions options_;
  Bug bug_;
  Instant now_;
  std::uint64_t term_ = 1;
  std::uint64_t last_n_ = 0;
  std::optional<CheckpointSchedule> schedule_;
  std::optional<CheckpointFailures> failures_;
  std::optional<PendingCheckpoint> pending_;
  Manifest newest_;
  bool has_ended_ = false;
  std::vector<CheckpointId> completed_;
  std::uint32_t takeovers_ = 0;
};

using Command = rc::state::Command<Model, Led>;

/// Something happens to both, and both do what is to be done then.
class Happening : public Command {
 public:
  void apply(Model& model) const override {
    happen(model);
    model.turn();
  }
  void run(const Model& model, Led& led) const override {
    happen(model, led);
    led.turn();
    Model after = model;
    apply(after);
    RC_ASSERT(led.pending() == after.pending);
    RC_ASSERT(led.completed() == after.completed);
    RC_ASSERT(led.takeovers() == after.takeovers);
    RC_ASSERT(led.is_armed());
  }

 protected:
  virtual void happen(Model& model) const = 0;
  virtual void happen(const Model& model, Led& led) const = 0;

  /// The pending checkpoint, or one that is over and has another number or term.
  static CheckpointId about(const Model& model, int age) {
    CheckpointId id = model.pending.value_or(CheckpointId{{model.term}, model.last_n});
    if (age == 1) id.n -= std::min<std::uint64_t>(id.n, 1);
    if (age == 2) id.term.number -= 1;
    return id;
  }
};

class Passes : public Happening {
 public:
  void show(std::ostream& out) const override { out << span_.count() << " ns pass"; }

 private:
  void happen(Model& model) const override { model.now += span_; }
  void happen(const Model&, Led& led) const override { led.advance(span_); }
  Span span_{*rc::gen::inRange(0, 15)};
};

class Asked : public Happening {
 public:
  void show(std::ostream& out) const override { out << "one is asked for"; }

 private:
  void happen(Model& model) const override { model.is_wanted = true; }
  void happen(const Model&, Led& led) const override { led.ask(); }
};

class Ends : public Happening {
 public:
  void checkPreconditions(const Model& model) const override {
    RC_PRE(!model.has_ended && model.completed.size() > 2);
  }
  void show(std::ostream& out) const override { out << "the input ends"; }

 private:
  void happen(Model& model) const override {
    model.has_ended = true;
    model.is_wanted = true;
  }
  void happen(const Model&, Led& led) const override { led.end_input(); }
};

class Acknowledges : public Happening {
 public:
  void show(std::ostream& out) const override {
    out << task_ << " acknowledges" << (age_ == 0 ? "" : " an old one");
  }

 private:
  void happen(Model& model) const override {
    if (model.pending == about(model, age_)) model.acknowledged.insert(task_);
  }
  void happen(const Model& model, Led& led) const override {
    led.acknowledge(acknowledgement(task_, about(model, age_), model.has_ended_pending));
  }
  std::string task_{*rc::gen::elementOf(tasks)};
  int age_ = *rc::gen::weightedElement<int>({{8, 0}, {1, 1}, {1, 2}});
};

class Declines : public Happening {
 public:
  void show(std::ostream& out) const override {
    out << "a task declines" << (age_ == 0 ? "" : " an old one");
  }

 private:
  void happen(Model& model) const override {
    if (model.pending == about(model, age_)) model.fail();
  }
  void happen(const Model& model, Led& led) const override { led.decline(about(model, age_)); }
  int age_ = *rc::gen::weightedElement<int>({{2, 0}, {1, 1}, {1, 2}});
};

struct Reached {
  std::size_t completed = 0;
  std::uint32_t takeovers = 0;
};

void expect_agreement(Bug bug, Reached& reached) {
  Model model;
  model.options.interval = Span(*rc::gen::inRange(1, 20));
  model.options.min_pause = Span(*rc::gen::inRange(0, 20));
  model.options.timeout = Span(*rc::gen::inRange(1, 30));
  model.options.tolerable_failures = *rc::gen::inRange<std::uint32_t>(0, 3);
  Led led(model.options, bug);
  rc::state::check(model, led,
                   rc::state::gen::execOneOfWithArgs<Passes, Passes, Acknowledges, Acknowledges,
                                                     Acknowledges, Declines, Asked, Ends>());
  reached.completed += led.completed().size();
  reached.takeovers += led.takeovers();
}

}  // namespace

TEST_CASE(
    "whatever happens to checkpoints, one is pending or due, and as many failed as is tolerable",
    "[properties]") {
  Reached reached;
  rc::prop("the parts agree with a coordinator in the abstract",
           [&] { expect_agreement(Bug::none, reached); });
  CHECK(reached.completed > 20);
  CHECK(reached.takeovers > 20);
}

TEST_CASE("a coordinator that puts its parts together wrongly is found out", "[properties]") {
  for (const Bug bug : {Bug::forgets_to_arm, Bug::believes_stale_declines, Bug::counts_on,
                        Bug::believes_any_acknowledgement}) {
    CAPTURE(static_cast<int>(bug));
    Reached reached;
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    params.maxSuccess = 1000;
    const auto result = rc::detail::checkTestable([&] { expect_agreement(bug, reached); },
                                                  rc::detail::TestMetadata(), params);
    CHECK(result.is<rc::detail::FailureResult>());
  }
}
