#include "millrace/runtime/worker/chain_task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/checkpoint_codec.hpp"
#include "millrace/runtime/worker/state_loader.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site batch_done{"chain.batch"};
constexpr Site batch_limit{"source.batch_limit"};
constexpr Site watermark_moment{"source.watermark"};
constexpr Site flush_moment{"chain.flush"};
constexpr Site around_snapshot{"chain.snapshot"};

constexpr auto connect_patience = 5s;
/// So long a task waits at most for an alarm by the wall clock, which may jump meanwhile.
constexpr Duration longest_wait = 1s;

/// Records that a source reads at once; chance may choose fewer, so that a barrier can fall between
/// any two.
constexpr std::uint64_t most_records = 1024;
/// Under load, partly filled batches wait at most so many steps.
constexpr int steps_between_flushes = 32;

/// Lets a source read so many records a second and no more.
class Pace {
 public:
  Pace(std::optional<std::uint64_t> per_second, Instant start)
      : per_second_(per_second), start_(start) {}

  /// How many may be read now, given what was.
  std::uint64_t allowance(Instant now, std::uint64_t read) const {
    if (!per_second_) return most_records;
    const auto elapsed = static_cast<std::uint64_t>((now - start_).count());
    const auto due =
        static_cast<std::uint64_t>(static_cast<Uint128>(elapsed) * *per_second_ / second);
    return due > read ? std::min(due - read, most_records) : 0;
  }
  /// When the next one may be.
  Instant next(std::uint64_t read) const {
    if (!per_second_) return Instant::never();
    const auto ns =
        static_cast<Uint128>(read + 1) * second / std::max<std::uint64_t>(*per_second_, 1);
    return start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(ns) + 1);
  }

 private:
  static constexpr std::uint64_t second = 1'000'000'000;
  std::optional<std::uint64_t> per_second_;
  Instant start_;
};

class ChainTask {
 public:
  ChainTask(Env& env, const ChainPlan& plan, SourceCounters& counters)
      : env_(env),
        plan_(plan),
        counters_(counters),
        inbox_(env, plan.chain->lanes()),
        gate_(std::max(1, plan.chain->lanes())),
        valve_(std::max(1, plan.chain->lanes())),
        pace_(plan.records_per_second, env.now()) {}

  [[noreturn]] void run() {
    plan_.orders->bind(env_.parker);
    make_stages();
    restore();
    attach_local_inputs();
    connect_outputs();
    env_.landmark(landmarks::task_restored, about({plan_.term, 0}));
    start_uploader();
    plan_.report(TaskRunning{plan_.term, env_.role});
    while (true) {
      take_orders();
      ring_alarms();
      const bool worked = source_ != nullptr ? read() : take();
      if (worked) {
        env_.step(batch_done);
      } else {
        stages_[0]->flush();
        wait();
      }
    }
  }

 private:
  LandmarkFields about(CheckpointId id) const {
    LandmarkFields fields;
    fields.id = id;
    fields.subtask = plan_.at.index;
    return fields;
  }

  void make_stages() {
    const ChainLayout& chain = *plan_.chain;
    for (std::size_t i = 0; i < chain.stages.size(); ++i) {
      const auto& [node_of_stage, parent, output] = chain.stages[i];
      const Node& node = *node_of_stage;
      const std::string role = node.name.empty() ? env_.role : task_name(node.name, plan_.at.index);
      stages_.push_back(node.make({env_.as(role), plan_.at, plan_.restored->id,
                                   plan_.restored->lineage, plan_.term, static_cast<int>(i)}));
      if (parent >= 0) stages_[static_cast<std::size_t>(parent)]->link({output}, *stages_[i]);
    }
    if (chain.is_source()) source_ = static_cast<SourceStage*>(stages_[0].get());
  }

  void restore() {
    const Manifest& manifest = *plan_.restored;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Node& node = *plan_.chain->stages[i].node;
      Restored restored;
      if (node.role == Node::Role::keyed) {
        restored.sections = load_sections(env_, manifest, node.name, plan_.at);
      } else if (node.role == Node::Role::source) {
        restored.partitions = partitions_of(manifest, node.name, plan_.at);
      }
      stages_[i]->restore(restored);
    }
    if (source_ != nullptr) read_by_others_ = source_->records_read();
  }

  void attach_local_inputs() {
    for (std::size_t lane = 0; lane < plan_.local_inputs.size(); ++lane) {
      if (plan_.local_inputs[lane] == nullptr) continue;
      inbox_.attach(static_cast<int>(lane),
                    std::make_unique<LocalLaneIn>(plan_.local_inputs[lane], env_.parker));
    }
  }

  void connect_outputs() {
    for (const LaneTarget& target : plan_.outputs) {
      if (target.local != nullptr) {
        lanes_.push_back(std::make_unique<LocalLaneOut>(target.local, env_.parker));
      } else {
        const auto& [node, service] = target.node;
        auto connection = env_.network.connect(target.node, Lane::data, env_.in(connect_patience));
        if (connection == nullptr) {
          throw ConnectionLost(fmt::format("{} refuses connections to {}", node, service));
        }
        Encoder greeting;
        encode(greeting, LaneGreeting{plan_.term, target.consumer, target.consumer_lane});
        if (!connection->write(make_frame(greeting.view()), env_.in(connect_patience))) {
          throw ConnectionLost(fmt::format("{} does not take a lane", node));
        }
        lanes_.push_back(std::make_unique<RemoteLaneOut>(std::move(connection)));
      }
      const auto stage = static_cast<std::size_t>(target.stage);
      const Node& node = *plan_.chain->stages[stage].node;
      const auto output = static_cast<std::size_t>(target.way.output);
      lane_stages_.push_back(node.outputs[output]->make_lane(*lanes_.back()));
      stages_[stage]->link(target.way, *lane_stages_.back());
    }
  }

  void start_uploader() {
    uploader_ =
        env_.tasks.start(env_.role + ".upload", [snapshots = snapshots_, report = plan_.report,
                                                 patience = plan_.upload_patience,
                                                 term = plan_.term, task = env_.role](Env& env) {
          try {
            run_uploader(env, *snapshots, patience, report);
          } catch (const WorldError&) {
            report(TaskFailed{term, task, describe_failure(std::current_exception(), env.role)});
          }
        });
  }

  void take_orders() {
    while (auto order = plan_.orders->try_take()) {
      if (auto* attach = std::get_if<AttachLane>(&*order)) {
        attach_lane(*attach);
      } else if (const auto* trigger = std::get_if<Trigger>(&*order)) {
        if (source_ != nullptr) inject_barrier(trigger->id);
      } else if (const auto* abort = std::get_if<Abort>(&*order)) {
        if (gate_.abort(abort->id)) inbox_.release_all();
      } else if (const auto* published = std::get_if<Published>(&*order)) {
        for (const auto& stage : stages_) stage->published(published->id);
      }
    }
  }

  void attach_lane(AttachLane& attach) {
    const RowType& rows = *plan_.chain->edge_of(attach.lane).rows;
    inbox_.attach(attach.lane, std::make_unique<RemoteLaneIn>(std::move(attach.connection),
                                                              std::move(attach.reader), rows.decode,
                                                              env_.parker));
    env_.parker.unpark();  // Frames may have come along with the greeting.
  }

  /// Stages that ask for it are called by the wall clock. It may jump, so it is looked at again
  /// whenever the task has been woken.
  void ring_alarms() {
    if (next_alarm() == EventTime::max()) return;
    const EventTime wall = env_.clock.wall();
    for (const auto& stage : stages_) {
      if (stage->next_alarm() <= wall) stage->ring(wall);
    }
  }
  EventTime next_alarm() const {
    EventTime next = EventTime::max();
    for (const auto& stage : stages_) next = std::min(next, stage->next_alarm());
    return next;
  }

  void wait() {
    Instant until = Instant::never();
    if (const EventTime alarm = next_alarm(); alarm != EventTime::max()) {
      until = env_.in(std::clamp<Duration>(alarm - env_.clock.wall(), 0ms, longest_wait));
    }
    if (source_ == nullptr) {
      env_.parker.park_until(until);
      return;
    }
    until = std::min(until, next_read());
    // A pause for the sake of the pace tells nothing about the partitions.
    const bool counts = !told_the_end_ && !is_pausing_;
    const auto patience = counts ? source_->patience() : std::nullopt;
    const Instant since = env_.now();
    if (patience) until = std::min(until, since + *patience);
    env_.parker.park_until(until);
    if (!patience) return;
    source_->waited(env_.now() - since);
    source_->advance();
  }

  // Sources.

  bool read() {
    const std::uint64_t before = source_->records_read();
    const std::uint64_t allowed = pace_.allowance(env_.now(), before - read_by_others_);
    is_pausing_ = allowed == 0;
    if (is_pausing_) return false;
    const auto step = source_->step(allowed - env_.chance.explore(batch_limit, allowed));
    counters_.records_read += source_->records_read() - before;
    if (step == SourceStage::Step::read) {
      // How often a watermark is sent changes when windows fire, and never what they hold.
      if (env_.chance.explore(watermark_moment, 4) == 0) source_->advance();
      flush_now_and_then();
      return true;
    }
    source_->advance();
    if (step == SourceStage::Step::ended && !std::exchange(told_the_end_, true)) {
      stages_[0]->flush();
      plan_.report(InputEnded{plan_.term, env_.role});
    }
    return false;
  }

  Instant next_read() const {
    if (told_the_end_) return Instant::never();
    return pace_.next(source_->records_read() - read_by_others_);
  }

  void inject_barrier(CheckpointId id) {
    if (id <= last_barrier_) return;
    // The due watermark goes first, and to every lane: so at an aligned barrier all subtasks of an
    // operator have the same watermark (PROTOCOL 5).
    source_->advance();
    checkpoint(id);
    env_.landmark(landmarks::barrier_injected, about(id));
  }

  // Others.

  bool take() {
    auto taken = inbox_.try_take();
    if (!taken) return false;
    switch (taken->message.kind) {
      case Message::Kind::rows:
        stages_[0]->deliver(plan_.chain->edge_of(taken->lane).port, *taken->message.rows);
        break;
      case Message::Kind::watermark:
        pass_on(valve_.advance(taken->lane, taken->message.watermark));
        break;
      case Message::Kind::activity:
        pass_on(taken->message.activity.is_idle ? valve_.set_idle(taken->lane)
                                                : valve_.wake(taken->lane));
        break;
      case Message::Kind::barrier: align(taken->lane, taken->message.barrier); break;
    }
    flush_now_and_then();
    return true;
  }

  void pass_on(const ValveAction& action) {
    if (action.watermark) stages_[0]->watermark(*action.watermark);
    if (action.idle) stages_[0]->set_idle(*action.idle);
  }

  void align(int lane, CheckpointId id) {
    const GateAction action = gate_.barrier(lane, id);
    if (action.release_all) inbox_.release_all();
    if (action.hold) inbox_.hold(lane);
    if (action.begins) env_.landmark(landmarks::alignment_begun, about(id));
    if (!action.complete) return;
    env_.landmark(landmarks::aligned, about(id));
    env_.step(around_snapshot);
    checkpoint(id);
    inbox_.release_all();  // And not before: what is behind a barrier is not in its snapshot.
  }

  // All.

  void checkpoint(CheckpointId id) {
    last_barrier_ = id;
    stages_[0]->flush();
    auto snapshot = std::make_unique<Snapshot>();
    snapshot->acknowledgement.id = id;
    snapshot->acknowledgement.task = env_.role;
    snapshot->subtask = plan_.at.index;
    for (const auto& stage : stages_) stage->save(*snapshot);
    env_.landmark(landmarks::snapshot_taken, about(id));
    for (const auto& lane : lanes_) lane->put(Message::of(id));
    env_.step(around_snapshot);
    snapshots_->put(std::move(snapshot), env_.parker);
  }

  void flush_now_and_then() {
    const bool due = ++steps_ % steps_between_flushes == 0;
    if (due || env_.chance.explore(flush_moment, 8) == 7) stages_[0]->flush();
  }

  Env& env_;
  const ChainPlan& plan_;
  SourceCounters& counters_;
  Inbox inbox_;
  Gate gate_;
  Valve valve_;
  Pace pace_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::unique_ptr<LaneOut>> lanes_;
  std::vector<std::unique_ptr<Stage>> lane_stages_;
  SourceStage* source_ = nullptr;
  std::uint64_t read_by_others_ = 0;  ///< In earlier terms.
  bool told_the_end_ = false;
  bool is_pausing_ = false;  ///< There may be records, and none may be read now.
  CheckpointId last_barrier_;
  int steps_ = 0;
  std::shared_ptr<Snapshots> snapshots_ = std::make_shared<Snapshots>(upload_room);
  std::unique_ptr<RunningTask> uploader_;
};

}  // namespace

void run_chain(Env& env, const ChainPlan& plan, SourceCounters& counters) {
  ChainTask(env, plan, counters).run();
}

}  // namespace millrace
