#include "millrace/runtime/coordinator/leadership.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/hash.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/runtime/coordinator/kept.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

constexpr Site between_events{"coordinator.event"};
constexpr Site around_manifest{"coordinator.manifest"};

/// So long a job that is done otherwise waits for its store to be cleaned up.
constexpr auto sweeping = std::chrono::seconds(30);

LandmarkFields about(CheckpointId id) {
  LandmarkFields fields;
  fields.id = id;
  return fields;
}

}  // namespace

Leadership::Leadership(Env& env, const Job& job, const CoordinatorOptions& options,
                       Manifest restored, HeadRegister& head, Members& members, Sweeper& sweeper,
                       std::set<std::string>& workers)
    : env_(env),
      options_(options),
      head_(head),
      members_(members),
      sweeper_(sweeper),
      joined_(workers),
      term_(head.known().head->term),
      layout_(plan_layout(job, static_cast<int>(options.parallelism))),
      completed_(std::move(restored)),
      completed_bytes_(encode_manifest(completed_)),
      schedule_(options.checkpoint),
      failures_(options.checkpoint) {
  for (const ChainLayout& chain : layout_.chains) {
    for (int i = 0; i < chain.parallelism; ++i) {
      tasks_.insert(task_name(chain.name, i));
      if (chain.is_source()) sources_.insert(task_name(chain.name, i));
    }
  }
  for (const Node* node : job.nodes()) {
    if (node->sink) sinks_.insert(node->sink->name);
    watermarks_may_differ_ = watermarks_may_differ_ || node->falls_idle;
  }
}

TermEnd Leadership::lead() {
  report(completed_.id == CheckpointId{} ? Progress::State::starting : Progress::State::recovering);
  assemble();
  recover_sinks();
  if (!await_sinks()) return *failure_;
  env_.landmark(landmarks::sinks_recovered, about({term_, 0}));
  for (const std::string& sink : sinks_) published_[sink] = completed_.id;
  sweeper_.sweep_before(term_, reached_by(completed_));
  deploy();
  if (!await_tasks()) return *failure_;
  env_.landmark(landmarks::tasks_running, about({term_, 0}));
  TermEnd end = run();
  if (std::holds_alternative<JobEnd>(end)) tell_workers(Withdraw{term_});
  return end;
}

void Leadership::assemble() {
  const auto expected = env_.host.peers("worker");
  const Instant patience = env_.in(options_.assembly);
  const auto all_here = [&] {
    return std::all_of(expected.begin(), expected.end(),
                       [&](const std::string& name) { return joined_.contains(name); });
  };
  // All of them if they come soon, else those that have; never none.
  while (!all_here() && (env_.now() < patience || joined_.empty())) {
    next_event(env_.now() < patience ? patience : Instant::never());
  }
  failure_.reset();  // A worker that went before it had anything to do is no loss.
  workers_.assign(joined_.begin(), joined_.end());
}

void Leadership::recover_sinks() {
  for (const std::string& sink : sinks_) {
    // The committer runs where subtask 0 of its sink does.
    members_.send(workers_.front(), RecoverSink{term_, sink, options_.adopt, completed_bytes_});
  }
}

bool Leadership::await_sinks() {
  const Instant patience = env_.in(options_.recovery);
  while (recovered_sinks_ != sinks_ && !failure_) {
    if (env_.now() >= patience) failure_ = NeedsTakeover{"a sink did not come back in time"};
    next_event(patience);
  }
  return !failure_;
}

void Leadership::deploy() {
  tell_workers(Deploy{term_, options_.parallelism, workers_, completed_bytes_,
                      options_.checkpoint.timeout.count()});
}

bool Leadership::await_tasks() {
  const Instant patience = env_.in(options_.recovery);
  while (running_tasks_ != tasks_ && !failure_) {
    if (env_.now() >= patience) failure_ = NeedsTakeover{"a task did not start in time"};
    next_event(patience);
  }
  return !failure_;
}

TermEnd Leadership::run() {
  schedule_.start(env_.now());
  visible_delay_.running(env_.now());
  report(Progress::State::running);
  while (true) {
    if (failure_) {
      failure_->had_progress = had_progress_;
      return *failure_;
    }
    if (const auto end = end_if_done()) return *end;
    if (env_.host.stop_requested() && !stopping_) {
      stopping_ = true;
      last_before_stop_ = {term_, last_n_ + 1};
      schedule_.ask(env_.now());
    }
    complete_if_all_in();
    give_up_if_overdue();
    if (failure_) continue;
    trigger_if_due();
    next_event(next_deadline());
  }
}

void Leadership::next_event(Instant until) {
  // The host may ask the job to stop at any time, without a message.
  constexpr auto look_around = std::chrono::milliseconds(100);
  env_.step(between_events);
  bool heard = false;
  while (const auto event = members_.try_next()) {
    hear(*event);
    heard = true;
  }
  if (!heard) env_.parker.park_until(std::min(until, env_.in(look_around)));
}

void Leadership::hear(const MemberEvent& event) {
  if (const auto* joined = std::get_if<WorkerJoined>(&event)) {
    joined_.insert(joined->worker);
  } else if (const auto* lost = std::get_if<WorkerLost>(&event)) {
    joined_.erase(lost->worker);
    if (std::find(workers_.begin(), workers_.end(), lost->worker) != workers_.end()) {
      failure_ = NeedsTakeover{lost->worker + " is gone"};
    }
  } else if (const auto* said = std::get_if<WorkerSaid>(&event)) {
    if (term_of(said->message) == term_) hear(said->worker, said->message);
  }
}

void Leadership::hear(const std::string& worker, const ControlMessage& message) {
  if (const auto* acknowledged = std::get_if<Acknowledged>(&message)) {
    if (pending_) pending_->acknowledge(acknowledged->acknowledgement);
  } else if (const auto* declined = std::get_if<Declined>(&message)) {
    if (pending_ && pending_->id() == declined->id) {
      give_up(fmt::format("{} declines it: {}", declined->task, declined->text));
    }
  } else if (const auto* running = std::get_if<TaskRunning>(&message)) {
    running_tasks_.insert(running->task);
  } else if (const auto* ended = std::get_if<InputEnded>(&message)) {
    ended_sources_.insert(ended->task);
    // The rest need not wait for its turn: one more checkpoint is all that is left. Short inputs
    // have ended before every task has said that it runs.
    if (all_ended()) schedule_.ask(env_.now());
  } else if (const auto* recovered = std::get_if<SinkRecovered>(&message)) {
    recovered_sinks_.insert(recovered->sink);
  } else if (const auto* published = std::get_if<SinkPublished>(&message)) {
    note_published(*published);
  } else if (const auto* counters = std::get_if<Counters>(&message)) {
    counters_[worker] = *counters;
    report(all_ended() ? Progress::State::finishing : Progress::State::running);
  } else if (const auto* failed = std::get_if<TaskFailed>(&message)) {
    if (is_permanent(failed->failure)) {
      head_.confirm();  // What a zombie's tasks stumble over is nobody's failure.
      throw_failure(failed->failure);
    }
    if (!failure_) {
      failure_ = NeedsTakeover{failed->failure.text, false,
                               failed->failure.kind == Failure::Kind::function};
    }
  }
}

void Leadership::trigger_if_due() {
  if (!schedule_.is_due(env_.now())) return;
  const CheckpointId id{term_, ++last_n_};
  pending_.emplace(id, tasks_, env_.in(options_.checkpoint.timeout), watermarks_may_differ_);
  schedule_.triggered(env_.now());
  visible_delay_.triggered(env_.now());
  tell_workers(Trigger{id});
  env_.landmark(landmarks::checkpoint_triggered, about(id));
}

void Leadership::give_up_if_overdue() {
  if (!pending_ || env_.now() < pending_->deadline()) return;
  give_up(fmt::format("no acknowledgement from {}", fmt::join(pending_->missing(), ", ")));
}

void Leadership::give_up(const std::string& why) {
  const CheckpointId id = pending_->id();
  env_.host.note(fmt::format("checkpoint {} is given up: {}", to_text(id), why));
  pending_.reset();
  given_up_.push_back(id);
  tell_workers(Abort{id});
  env_.landmark(landmarks::checkpoint_aborted, about(id));
  schedule_.failed(env_.now());
  if (failures_.failed(id) && !failure_) {
    failure_ = NeedsTakeover{fmt::format("{} checkpoints in a row failed; of the last: {}",
                                         options_.checkpoint.tolerable_failures + 1, why)};
  }
}

void Leadership::complete_if_all_in() {
  if (!pending_ || !pending_->is_complete()) return;
  Manifest manifest = pending_->manifest_after(completed_, options_.parallelism);
  manifest.kept =
      kept_after(completed_, head_.known().head->manifest_checksum, options_.checkpoint.retained);
  pending_.reset();
  decide(manifest);
}

void Leadership::decide(const Manifest& manifest) {
  const Bytes bytes = encode_manifest(manifest);
  LandmarkFields fields = about(manifest.id);
  env_.landmark(landmarks::manifest_begun, fields);
  store_manifest(env_, manifest, bytes);
  fields.evidence = bytes;
  env_.landmark(landmarks::manifest_written, fields);
  env_.step(around_manifest);

  Head next = *head_.known().head;
  next.checkpoint = manifest.id;
  next.manifest = name_of(manifest);
  next.manifest_checksum = checksum(bytes);
  head_.swap(next);  // That decides.
  visible_delay_.decided(manifest.id);

  const CheckpointId visible = visible_everywhere();
  for (const std::string& sink : sinks_) {
    std::vector<StagedObject> staged;
    for (const StagedObject& object : manifest.staged) {
      if (object.sink == sink) staged.push_back(object);
    }
    members_.send(workers_.front(), Publish{manifest.id, sink, std::move(staged)});
  }
  sweeper_.remove(superseded_names(completed_, manifest, visible));
  if (!given_up_.empty()) sweeper_.remove(take_given_up_names());
  completed_ = manifest;
  schedule_.completed(env_.now());
  failures_.completed(manifest.id);
  if (manifest.has_all_input()) schedule_.no_more();  // Nothing new can come in this term.
  had_progress_ = true;
  report(all_ended() ? Progress::State::finishing : Progress::State::running);
}

/// What tasks may have uploaded for checkpoints that were given up; their rows ride with the next.
/// A task uploads in the order of the checkpoints, so when a later one is complete nothing more of
/// them comes.
std::vector<std::string> Leadership::take_given_up_names() {
  std::vector<std::string> names;
  for (const CheckpointId id : std::exchange(given_up_, {})) {
    for (const std::string& task : tasks_) names.push_back(object_names::state(id, task));
  }
  return names;
}

/// Nobody takes a finished job over, so what it leaves is left for ever: also what of its own term
/// came late, or came back when the store lost power. Returns whether the sweeper has taken it on.
bool Leadership::sweep_all() {
  std::set<std::string> reached = reached_by(completed_);
  for (const StagedObject& staged : completed_.staged) reached.erase(staged.name);
  reached.insert(object_names::heartbeat(term_));
  return sweeper_.sweep_before({term_.number + 1}, std::move(reached));
}

std::optional<TermEnd> Leadership::end_if_done() {
  if (completed_.id.term != term_) return std::nullopt;  // Take one in this term first.
  if (visible_everywhere() < completed_.id) return std::nullopt;
  if (completed_.has_all_input()) {
    if (finished_since_ == Instant::never()) finished_since_ = env_.now();
    if (!sweeps_all_) sweeps_all_ = sweep_all();
    const bool is_swept = sweeps_all_ && sweeper_.is_idle();
    if (!is_swept && env_.now() < finished_since_ + sweeping) return std::nullopt;
    Head next = *head_.known().head;
    next.status = JobStatus::finished;
    head_.swap(next);
    env_.landmark(landmarks::job_finished, about(completed_.id));
    report(Progress::State::finished);
    return JobEnd::finished;
  }
  if (stopping_ && completed_.id >= last_before_stop_) return JobEnd::stopped;
  return std::nullopt;
}

void Leadership::note_published(const SinkPublished& published) {
  CheckpointId& known = published_[published.sink];
  if (published.id <= known) return;
  known = published.id;
  rows_published_ += published.rows;
  const CheckpointId visible = visible_everywhere();
  visible_delay_.published(visible, env_.now());
  tell_workers(Published{visible});
  std::vector<std::string> names;
  for (const StagedObject& object : completed_.staged) {
    if (object.id <= visible) names.push_back(object.name);
  }
  if (!names.empty()) sweeper_.remove(std::move(names));
  report(all_ended() ? Progress::State::finishing : Progress::State::running);
}

CheckpointId Leadership::visible_everywhere() const {
  CheckpointId visible = completed_.id;
  for (const auto& [sink, id] : published_) visible = std::min(visible, id);
  return visible;
}

void Leadership::tell_workers(const ControlMessage& message) {
  for (const std::string& worker : workers_) members_.send(worker, message);
}

Instant Leadership::next_deadline() const {
  return pending_ ? pending_->deadline() : schedule_.next();
}

void Leadership::report(Progress::State state) {
  Progress progress;
  progress.state = state;
  progress.term = term_;
  progress.completed = completed_.id;
  progress.published = published_.empty() ? CheckpointId{} : visible_everywhere();
  for (const auto& [worker, counters] : counters_) progress.records_read += counters.records_read;
  for (const ManifestPartition& partition : completed_.partitions) {
    progress.records_done += partition.progress.records;
    progress.records_skipped += partition.progress.skipped;
  }
  progress.records_late = completed_.records_late;
  progress.rows_published = rows_published_;
  progress.visible_delay = visible_delay_.longest();
  env_.host.report(progress);
}

}  // namespace millrace
