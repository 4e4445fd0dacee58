#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/runtime/control/failure.hpp"
#include "millrace/runtime/coordinator/checkpoint_failures.hpp"
#include "millrace/runtime/coordinator/checkpoint_schedule.hpp"
#include "millrace/runtime/coordinator/coordinator.hpp"
#include "millrace/runtime/coordinator/head_register.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/coordinator/members.hpp"
#include "millrace/runtime/coordinator/pending_checkpoint.hpp"
#include "millrace/runtime/coordinator/sweeper.hpp"
#include "millrace/runtime/coordinator/visible_delay.hpp"
#include "millrace/runtime/job/layout.hpp"

namespace millrace {

/// Something failed that a takeover repairs.
struct NeedsTakeover {
  std::string why;
  bool had_progress = false;  ///< Whether a checkpoint was completed in this term.
  bool is_function = false;   ///< A function of the user's threw, and `why` tells where.
};
/// How a term ended.
using TermEnd = std::variant<JobEnd, NeedsTakeover>;

/// Leads a job through one term: brings its sinks back, deploys its tasks, takes checkpoints, and
/// notices when it is done or something fails.
///
/// Decides by what is pure (takeover.hpp, checkpoint_schedule.hpp, pending_checkpoint.hpp,
/// sweeper.hpp); what stands here gathers facts and acts.
class Leadership {
 public:
  /// The term is that of the register's head, which was won already; `restored` is the manifest
  /// that it names. `workers` have joined.
  Leadership(Env& env, const Job& job, const CoordinatorOptions& options, Manifest restored,
             HeadRegister& head, Members& members, Sweeper& sweeper,
             std::set<std::string>& workers);

  /// Throws OwnershipLost; UsageError, JobFailed, Refused.
  TermEnd lead();

 private:
  // In the order of a recovery (PROTOCOL 3).
  void assemble();
  void recover_sinks();
  bool await_sinks();
  void deploy();
  bool await_tasks();
  TermEnd run();

  void next_event(Instant until);
  void hear(const MemberEvent& event);
  void hear(const std::string& worker, const ControlMessage& message);
  void trigger_if_due();
  void give_up_if_overdue();
  /// The pending one. `why` is for people.
  void give_up(const std::string& why);
  void complete_if_all_in();
  void decide(const Manifest& manifest);
  std::optional<TermEnd> end_if_done();
  bool sweep_all();
  std::vector<std::string> take_given_up_names();
  void note_published(const SinkPublished& published);
  CheckpointId visible_everywhere() const;
  void tell_workers(const ControlMessage& message);
  void report(Progress::State state);
  bool all_ended() const { return ended_sources_.size() == sources_.size(); }
  Instant next_deadline() const;

  Env& env_;
  const CoordinatorOptions& options_;
  HeadRegister& head_;
  Members& members_;
  Sweeper& sweeper_;
  std::set<std::string>& joined_;

  Term term_;
  Layout layout_;
  Manifest completed_;  ///< The newest; what the head names.
  Bytes completed_bytes_;
  std::vector<std::string> workers_;  ///< Who runs this term's tasks.
  std::set<std::string> tasks_;
  std::set<std::string> sources_;
  std::set<std::string> sinks_;

  std::set<std::string> recovered_sinks_;
  std::set<std::string> running_tasks_;
  std::set<std::string> ended_sources_;
  std::map<std::string, CheckpointId> published_;  ///< Per sink.
  std::optional<PendingCheckpoint> pending_;
  bool watermarks_may_differ_ = false;  ///< Of an operator's subtasks: see PendingCheckpoint.
  std::uint64_t last_n_ = 0;
  std::vector<CheckpointId> given_up_;  ///< And not swept yet.
  CheckpointSchedule schedule_;
  CheckpointFailures failures_;
  std::optional<NeedsTakeover> failure_;
  bool had_progress_ = false;
  Instant finished_since_ = Instant::never();  ///< All but the sweeping.
  bool sweeps_all_ = false;                    ///< The last sweep was taken on.
  bool stopping_ = false;                      ///< A last checkpoint was asked for.
  CheckpointId last_before_stop_;
  std::map<std::string, Counters> counters_;  ///< Per worker.
  std::uint64_t rows_published_ = 0;
  VisibleDelay visible_delay_;
};

}  // namespace millrace
