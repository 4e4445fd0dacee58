#include "millrace/runtime/coordinator/coordinator.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/coordinator/head_register.hpp"
#include "millrace/runtime/coordinator/leadership.hpp"
#include "millrace/runtime/coordinator/lease.hpp"
#include "millrace/runtime/coordinator/restarts.hpp"
#include "millrace/runtime/coordinator/takeover.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/landmarks.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr Site lineage_high{"genesis.lineage_high"};
constexpr Site lineage_low{"genesis.lineage_low"};
constexpr Site loser_waits{"candidate.loser_waits"};
constexpr Site candidate_looks{"candidate.looks"};

constexpr auto call_patience = 5s;
constexpr auto pause_between_repeats = 50ms;

class Coordinator {
 public:
  Coordinator(Env& env, const Job& job, const CoordinatorOptions& options)
      : env_(env),
        job_(job),
        options_(options),
        head_(env),
        members_(env, options.timing),
        candidacy_(options.lease),
        restarts_(options.restart) {}

  JobEnd run() {
    while (true) {
      if (!wait_for_turn()) return JobEnd::already_finished;
      try {
        const JobEnd end = own();
        members_.leave();
        return end;
      } catch (const OwnershipLost&) {
        if (options_.is_only_candidate) return JobEnd::ownership_lost;
        candidacy_.lost(std::chrono::nanoseconds(
            env_.chance.below(loser_waits, static_cast<std::uint64_t>(options_.lease.count()))));
      }
    }
  }

 private:
  /// Returns false if there is nothing left to do.
  bool wait_for_turn() {
    while (true) {
      const VersionedHead& head = head_.read();
      if (std::holds_alternative<NothingLeft>(decide_takeover(head.head, options_.fresh))) {
        return false;
      }
      // Nobody owns a job that has no head; whoever writes the first one does.
      if (options_.is_only_candidate || !head.head) return true;
      if (const auto heartbeat = try_read_heartbeat(head.head->term)) {
        if (candidacy_.observe(head.version, *heartbeat, env_.now())) return true;
      }
      note_members();
      env_.step(candidate_looks);
      env_.sleep(options_.lease / 4);
    }
  }

  std::optional<std::uint64_t> try_read_heartbeat(Term term) {
    try {
      return read_heartbeat(env_, term);
    } catch (const WorldError&) {
      return std::nullopt;  // Nothing was seen, so nothing is known to be unchanged.
    }
  }

  void note_members() {
    while (const auto event = members_.try_next()) {
      if (const auto* joined = std::get_if<WorkerJoined>(&*event)) workers_.insert(joined->worker);
      if (const auto* lost = std::get_if<WorkerLost>(&*event)) workers_.erase(lost->worker);
    }
  }

  /// Owns the job until it ends. Throws OwnershipLost.
  JobEnd own() {
    Sweeper sweeper(env_);
    bool fresh = options_.fresh;
    while (true) {
      const Manifest restored = take_over(fresh);
      fresh = false;
      std::optional<Lease> lease;
      if (!options_.is_only_candidate)
        lease.emplace(env_, head_.known().head->term, options_.lease);
      const TermEnd end =
          Leadership(env_, job_, options_, restored, head_, members_, sweeper, workers_).lead();
      if (lease) lease->end();
      if (const auto* job_end = std::get_if<JobEnd>(&end)) {
        sweeper.end();
        return *job_end;
      }
      pause_before_restart(std::get<NeedsTakeover>(end));
    }
  }

  void pause_before_restart(const NeedsTakeover& need) {
    LandmarkFields fields;
    fields.id.term = head_.known().head->term;
    env_.landmark(landmarks::restarting, fields);
    if (need.is_function && restarts_.is_poison(need.why)) {
      throw JobFailed(fmt::format("{} ({} times)", need.why, Restarts::most_of_one_error));
    }
    if (need.had_progress) restarts_.reset();
    const auto pause = restarts_.next(env_.now());
    if (!pause) {
      throw JobFailed(fmt::format("{}; the last failure: {}", restarts_.gave_up(), need.why));
    }
    env_.host.note(fmt::format("restarts: {}", need.why));
    const Instant end = env_.in(*pause);
    while (env_.now() < end) {
      note_members();
      env_.parker.park_until(end);
    }
  }

  /// Wins the next term, and returns the manifest to go on from.
  ///
  /// In this order (PROTOCOL 3): what the head named before it was won may have been swept since,
  /// by an owner that this coordinator, waking up, still believes itself to be.
  Manifest take_over(bool fresh) {
    const auto plan = decide_takeover(head_.known().head, fresh);
    const JobFacts facts{job_.fingerprint(), read_partitions()};
    Head next;
    if (const auto* anew = std::get_if<BeginAnew>(&plan)) {
      next = begin_anew(anew->term, facts);
    } else {
      next = *head_.known().head;
      next.term = std::get<Resume>(plan).term;
      next.status = JobStatus::running;
    }
    head_.swap(next);
    LandmarkFields fields;
    fields.id = {next.term, 0};
    env_.landmark(landmarks::took_over, fields);

    Manifest manifest = load_own_manifest();
    if (const auto mismatch = find_mismatch(manifest, facts)) {
      throw Refused(mismatch->why, mismatch->what);
    }
    note_growth(manifest, facts);
    return manifest;
  }

  Manifest load_own_manifest() {
    try {
      return load_manifest(env_, *head_.known().head);
    } catch (const Refused&) {
      // Or is it the next owner's by now, and swept?
      head_.confirm();
      throw;
    }
  }

  Head begin_anew(Term term, const JobFacts& facts) {
    Lineage lineage;
    lineage.high = env_.chance.unique(lineage_high);
    lineage.low = env_.chance.unique(lineage_low);
    const Manifest genesis = make_genesis(lineage, facts, options_.parallelism);
    const Bytes bytes = encode_manifest(genesis);
    store_manifest(env_, genesis, bytes);
    LandmarkFields fields;
    fields.evidence = bytes;
    env_.landmark(landmarks::genesis_stored, fields);
    Head head;
    head.term = term;
    head.lineage = lineage;
    head.manifest = name_of(genesis);
    head.manifest_checksum = checksum(bytes);
    return head;
  }

  std::vector<JobFacts::Partition> read_partitions() {
    std::vector<JobFacts::Partition> partitions;
    for (const Node* node : job_.nodes()) {
      if (node->role != Node::Role::source) continue;
      for (PartitionFacts& facts : ask_for_partitions(*node)) {
        partitions.push_back({node->name, std::move(facts)});
      }
    }
    return partitions;
  }

  std::vector<PartitionFacts> ask_for_partitions(const Node& source) {
    while (true) {
      try {
        if (source.partitions != nullptr) return source.partitions(env_);
        return env_.log.partitions(source.address, env_.in(call_patience));
      } catch (const WorldError&) {
        env_.sleep(pause_between_repeats);  // The log does not answer yet.
      }
    }
  }

  /// What genesis did not see is not read; the user should know.
  void note_growth(const Manifest& manifest, const JobFacts& facts) {
    for (const auto& [source, now] : facts.partitions) {
      bool known = false;
      for (const ManifestPartition& was : manifest.partitions) {
        if (was.progress.source != source || was.facts.name != now.name) continue;
        known = true;
        if (now.end > was.facts.end) {
          env_.host.note(
              fmt::format("partition {} has grown by {} bytes, which are not read: a job "
                          "reads what was there when it began",
                          now.name, now.end - was.facts.end));
        }
      }
      if (!known) {
        env_.host.note(
            fmt::format("partition {} is new and not read: a job reads what was there "
                        "when it began",
                        now.name));
      }
    }
  }

  Env& env_;
  const Job& job_;
  const CoordinatorOptions& options_;
  HeadRegister head_;
  Members members_;
  Candidacy candidacy_;
  Restarts restarts_;
  std::set<std::string> workers_;
};

}  // namespace

JobEnd run_coordinator(Env& env, const Job& job, const CoordinatorOptions& options) {
  return Coordinator(env, job, options).run();
}

}  // namespace millrace
