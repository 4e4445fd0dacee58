#include "millrace/properties/experiment.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "millrace/faults/injector.hpp"
#include "millrace/properties/visibility.hpp"
#include "millrace/runtime/coordinator/coordinator.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/worker/worker.hpp"
#include "millrace/sim/database_server.hpp"
#include "millrace/sim/draw_book.hpp"
#include "millrace/sim/log_server.hpp"
#include "millrace/sim/memory_database.hpp"
#include "millrace/sim/sqlite_vfs.hpp"
#include "millrace/sim/store_server.hpp"
#include "millrace/sim/world.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "late_records.hpp"
#include "leftovers.hpp"
#include "manifest_witness.hpp"
#include "row_order.hpp"
#include "user_code_judge.hpp"

namespace millrace::properties {
namespace {

using namespace std::chrono_literals;

/// Faults whose anchors were not reached so long after the last record has arrived never will be.
constexpr auto storm_after_arrival = 20s;
/// Longer than anybody of an older term takes to find out.
constexpr auto settling = 10s;
/// How often the experiment looks whether the job still makes progress.
constexpr auto look_every = 500ms;
constexpr std::string_view head_file = "objects/head";
constexpr const char* objects_directory = "objects";

class Experiment {
 public:
  Experiment(const Case& scenario, const Subject& subject, sim::StackPool& stacks,
             const Observers& observers)
      : scenario_(scenario),
        subject_(subject),
        on_draws_(observers.on_draws),
        on_rows_(observers.on_rows),
        on_effects_(observers.on_effects),
        book_(book_of(scenario, observers)),
        world_({scenario.seed, scenario.is_quiet, book_ ? &*book_ : nullptr}, sim::Timings{},
               stacks) {
    for (std::size_t i = 0; i < subject.tables.size(); ++i) add_judge(i);
    if (!subject.registered.empty()) world_.watch_user_code(&user_code_);
    if (observers.on_event) world_.trace().listen(observers.on_event);
    if (observers.on_note) {
      world_.on_note([this, note = observers.on_note](sim::NodeId node, std::string_view sentence) {
        note(world_.now(), world_.name_of(node), sentence);
      });
    }
    if (observers.on_landmark) {
      world_.on_landmark([this, tell = observers.on_landmark](const sim::LandmarkEvent& event) {
        tell(world_.now(), world_.name_of(event.node), event);
      });
    }
    sim::Draws draws(world_.seed(), sim::Domain::input, "arrivals");
    arrivals_ = draw_arrivals(subject.input, scenario.arrival, draws);
    add_servers();
    add_processor();
    injector_.emplace(world_, scenario.plan);
    world_.on_landmark([this](const sim::LandmarkEvent& event) { observe(event); });
  }

  ~Experiment() { world_.shut_down(); }  // Before what its nodes use goes away.
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  Outcome run() {
    for (std::uint32_t i = 0; i < world_.node_count(); ++i) world_.start({i});
    storm_and_calm();
    outcome_.statistics.virtual_ns = world_.now().ns;
    if (finished_ && !ended_) settle();
    count();
    if (on_draws_) on_draws_(book_->drawn());
    return judged();
  }

 private:
  // Build.

  void add_judge(std::size_t table) {
    tables_.push_back(std::make_unique<JudgedTable>(
        subject_.tables[table],
        [this, table](const TableVisit& visit) { return look_at_table(table, visit); },
        [this] { return decided(); }));
  }
  /// Whether there is something to compare rows with: calm, a job whose result depends on the
  /// interleaving is compared with its own quiet run.
  bool are_rows_judged() const { return !subject_.interleaving || scenario_.plan.faults.empty(); }

  static std::optional<sim::DrawBook> book_of(const Case& scenario, const Observers& observers) {
    if (scenario.choices.empty() && !observers.on_draws) return std::nullopt;
    sim::DrawBook book(observers.on_draws ? sim::DrawBook::Notes::draws
                                          : sim::DrawBook::Notes::none);
    for (const sim::Choice& choice : scenario.choices) book.add(choice);
    return book;
  }

  void add_servers() {
    store_ = world_.add_node(sim::store_node, "store", sim::run_store_server);
    log_ = world_.add_node(sim::log_node, "log",
                           [this](Env& env) { sim::run_log_server(env, arrivals_); });
    for (const InputPartition& partition : subject_.input.partitions) {
      world_.disk_of(log_).install(input_directory + partition.name, as_bytes(partition.text));
    }
    database_ = world_.add_node(sim::database_node, "database", [this](Env& env) {
      sim::run_database_server(env, database_options());
    });
    if (!in_memory()) vfs_.emplace(world_, database_);
  }

  bool in_memory() const { return scenario_.cluster.database == DatabaseKind::memory; }

  sim::DatabaseOptions database_options() {
    if (in_memory()) return {"", [this] { look(); }, &memory_};
    return {vfs_->name(), [this] { look(); }};
  }

  void add_processor() {
    coordinator_options_.parallelism = scenario_.cluster.parallelism;
    coordinator_options_.checkpoint = scenario_.checkpoint;
    coordinator_options_.restart = scenario_.restart;
    for (int i = 1; i <= 2; ++i) {
      world_.add_node("coordinator" + std::to_string(i), "coordinator",
                      [this](Env& env) { coordinate(env); });
    }
    for (std::uint32_t i = 1; i <= scenario_.cluster.workers; ++i) {
      world_.add_node("worker" + std::to_string(i), "worker",
                      [this](Env& env) { run_worker(env, subject_.job, worker_options_); });
    }
  }

  void coordinate(Env& env) {
    try {
      const JobEnd end = run_coordinator(env, subject_.job, coordinator_options_);
      // The one that finished it may have died before it could say so; then the other finds it so.
      if (end == JobEnd::finished || end == JobEnd::already_finished) finished_ = true;
    } catch (const Refused& refused) {
      end_by(Verdict::refused, fmt::format("{}: {}", name_of(refused.why()), refused.what()));
    } catch (const JobFailed& failed) {
      end_by(Verdict::failed, failed.what());
    } catch (const UsageError& usage) {
      end_by(Verdict::failed, usage.what());
    }
  }

  void end_by(Verdict verdict, std::string reason) {
    if (ended_) return;
    ended_ = verdict;
    outcome_.reason = std::move(reason);
    world_.stop();
  }

  // Storm and calm.

  void observe(const sim::LandmarkEvent& event) {
    ++outcome_.statistics.landmarks[index_of(event.landmark)];
    if (&event.landmark == &landmarks::manifest_written) {
      Witness witness = read_witness(event.fields.evidence);
      leftovers_.claimed(witness);
      dropped_[witness.id] = witness.records_late;
      for (std::size_t i = 0; i < witness.claims.size(); ++i) {
        std::string& partition = witness.claims[i].partition;
        partition = partition_name(subject_.spec, witness.sources[i], partition);
      }
      for (const auto& table : tables_) table->judge.claimed(witness.id, witness.claims);
    } else if (&event.landmark == &landmarks::head_swapped && event.fields.id.n != 0 &&
               event.fields.id > decided_) {
      // Neither a takeover nor the end of the job names a new checkpoint.
      decided_ = event.fields.id;
      ++outcome_.statistics.checkpoints;
      last_progress_ = world_.now();
    } else if (&event.landmark == &landmarks::took_over) {
      leftovers_.took_over(event.fields.id.term, decided().value_or(CheckpointId{}), objects());
    } else if (&event.landmark == &landmarks::swept) {
      const std::set<std::string> left = objects();
      leftovers_.saw(left);
      leftovers_.swept(event.fields.id.term, left);
    } else if (&event.landmark == &landmarks::job_finished) {
      // What comes later are words of zombies.
      objects_at_the_end_ = objects();
    } else if ((&event.landmark == &landmarks::published && event.fields.count != 0) ||
               &event.landmark == &landmarks::rows_written) {
      ++outcome_.statistics.publishes;
    }
  }

  TableLook look_at_table(std::size_t number, const TableVisit& visit) {
    JudgedTable& table = *tables_[number];
    if (in_memory()) return memory_.look(table.facts.schema.table, visit);
    // A restart of the database ends what was opened before.
    if (!table.reader || table.opened_in != world_.life_of(database_)) {
      table.reader.emplace(sink_database, vfs_->name(), table.facts.schema.table);
      table.opened_in = world_.life_of(database_);
    }
    return table.reader->look(visit);
  }

  /// What the register names now, read from the store's disk.
  std::optional<CheckpointId> decided() {
    const auto file = world_.disk_of(store_).find(head_file);
    if (file == nullptr) return std::nullopt;
    Bytes bytes(file->size());
    file->read(0, bytes);
    return read_decided(bytes);
  }

  /// The names of all objects, from the store's disk.
  std::set<std::string> objects() {
    std::set<std::string> names;
    collect_objects("", names);
    return names;
  }
  void collect_objects(const std::string& under, std::set<std::string>& names) {
    for (std::string& entry : world_.disk_of(store_).list(objects_directory + under)) {
      if (entry.ends_with('/')) {
        entry.pop_back();
        collect_objects(under + "/" + entry, names);
      } else if (entry.find('~') == std::string::npos) {  // Else it is no object (STORE.md).
        names.insert((under + "/" + entry).substr(1));
      }
    }
  }

  void look() {
    const sim::World::Outside outside(world_);
    if (!are_rows_judged()) return;
    for (const auto& table : tables_) table->judge.look();
  }

  void storm_and_calm() {
    const Instant storm_end = arrivals_.last() + storm_after_arrival;
    const auto bound = liveness_bound(scenario_.checkpoint, scenario_.restart);
    std::optional<Instant> calm_since;
    while (true) {
      const auto how = world_.run_until(world_.now() + look_every);
      if (how == sim::World::Ended::violated || ended_) return;
      // The end is judged when everything is up again: a reader must be let in.
      if (finished_ && injector_->is_calm()) return;
      if (world_.now() >= storm_end) injector_->disarm();
      const bool is_calm =
          injector_->is_calm() && (injector_->is_over() || world_.now() >= storm_end);
      if (is_calm && !calm_since) calm_since = world_.now();
      const std::string complaint = how == sim::World::Ended::idle
                                        ? "nothing will ever happen again"
                                    : calm_since ? find_standstill(*calm_since, bound)
                                                 : "";
      if (complaint.empty()) continue;
      ended_ = Verdict::no_progress;
      outcome_.breaches.push_back({"progress", complaint});
      return;
    }
  }

  /// What a healthy job would have done by now, with the storm over since `calm`; empty: all of it.
  std::string find_standstill(Instant calm, std::chrono::nanoseconds bound) const {
    if (world_.now() - std::max(calm, last_progress_) > bound) {
      return fmt::format("no checkpoint for {} of virtual time after the storm",
                         faults::to_text(bound));
    }
    if (world_.now() - std::max(calm, arrivals_.last()) > 2 * bound) {
      return fmt::format("checkpoints, but no end in {} of virtual time after the storm",
                         faults::to_text(2 * bound));
    }
    return "";
  }

  /// Zombies get the time to do what they still mean to; then none of the job's tasks is left.
  void settle() {
    const Instant patience = world_.now() + settling;
    std::vector<std::string> running = running_tasks();
    while (!running.empty() && world_.now() < patience) {
      if (world_.run_until(world_.now() + look_every) == sim::World::Ended::violated) return;
      running = running_tasks();
    }
    for (const std::string& task : running) leftovers_.still_runs(task);
  }

  /// Of the job, on its workers: all but those by which a worker waits for another job.
  std::vector<std::string> running_tasks() const {
    std::vector<std::string> tasks;
    for (std::uint32_t i = 1; i <= scenario_.cluster.workers; ++i) {
      const std::string node = "worker" + std::to_string(i);
      for (const std::string& role : world_.roles_of(*world_.find_node(node))) {
        if (role != node && !role.starts_with("dial.")) tasks.push_back(node + ": " + role);
      }
    }
    return tasks;
  }

  // Judge.

  void count() {
    outcome_.trace_hash = world_.trace().hash();
    RunStatistics& statistics = outcome_.statistics;
    statistics.records = subject_.records();
    statistics.events = world_.trace().events();
    statistics.switches = world_.switches();
    statistics.messages = world_.messages();
    statistics.firings = injector_->firings();
    outcome_.unfired = injector_->unfired();
    if (!book_) return;
    for (const sim::Choice& choice : book_->unasked()) {
      outcome_.unasked.push_back(to_text(choice));
    }
  }

  Outcome judged() {
    if (const auto& violation = world_.violation()) {
      ended_ = Verdict::violated;
      outcome_.breaches.push_back({"invariants", fmt::format("{} ({}:{})", violation->claim,
                                                             violation->file, violation->line)});
    }
    if (!ended_ && finished_) {
      const sim::World::Outside outside(world_);
      if (on_rows_) tell_rows();
      if (are_rows_judged()) judge_end();
      if (auto left = leftovers_.judge(decided_, objects_at_the_end_)) {
        outcome_.breaches.push_back(*std::move(left));
      }
    }
    if (on_effects_) on_effects_(user_code_.effects());
    for (Breach& breach : user_code_.judge(subject_.calm_effects)) {
      if (!on_effects_) outcome_.breaches.push_back(std::move(breach));
    }
    bool are_rows_wrong = false;
    for (const auto& table : tables_) {
      auto breach = table->judge.breach();
      if (!breach || are_rows_wrong) continue;
      are_rows_wrong = true;
      if (tables_.size() > 1) breach->what = table->facts.schema.table + ": " + breach->what;
      // Nothing went wrong but the order in which things happened.
      if (!subject_.registered.empty() && scenario_.plan.faults.empty()) {
        breach->judge = "interleaving";
      }
      outcome_.breaches.insert(outcome_.breaches.begin(), *std::move(breach));
      outcome_.rows = table->judge.rows();
    }
    // A violation is worse than what it leads to; wrong rows are worse than none.
    if (ended_ == Verdict::violated || outcome_.breaches.empty() || !are_rows_wrong) {
      outcome_.verdict =
          ended_.value_or(outcome_.breaches.empty() ? Verdict::held : Verdict::breached);
    } else {
      outcome_.verdict = Verdict::breached;
    }
    return std::move(outcome_);
  }

  void judge_end() {
    for (const auto& table : tables_) {
      if (!table->judge.look_at_the_end()) {
        outcome_.breaches.push_back({"rows", "nobody is let into the table at the end"});
      }
    }
    judge_order_of_rows();
    // Of rows that are wrong there is nothing more to say.
    const JudgedTable& first = *tables_.front();
    if (!subject_.registered.empty() || first.judge.breach()) return;
    const auto dropped = late_records();
    if (!dropped) return;
    auto late = judge_late(first.facts.reference, *dropped, first.judge.last_rows(),
                           first.facts.schema.mode);
    if (late) outcome_.breaches.push_back(*std::move(late));
  }

  void judge_order_of_rows() {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const SubjectTable& facts = tables_[i]->facts;
      if (facts.schema.mode != SinkMode::staged || !knows_order(facts.reference)) continue;
      if (auto order = judge_order(facts.reference, rows_of(i))) {
        outcome_.breaches.push_back(*std::move(order));
        return;
      }
    }
  }

  /// All rows of a table, in the order of their insertion.
  std::vector<OwnedRow> rows_of(std::size_t table) {
    std::vector<OwnedRow> rows;
    look_at_table(table,
                  [&](std::int64_t, std::span<const Cell> cells) { rows.push_back(own(cells)); });
    return rows;
  }

  /// Those that were dropped, or went into a table of their own. Nothing: they stand there more
  /// often than they were.
  std::optional<std::uint64_t> late_records() {
    std::uint64_t records = dropped_[decided_];
    for (const auto& table : tables_) {
      if (!table->facts.is_late) continue;
      if (table->facts.schema.mode != SinkMode::staged) return std::nullopt;
      records += table->judge.last_rows() ? table->judge.last_rows()->size() : 0;
    }
    return records;
  }

  void tell_rows() {
    for (std::size_t i = 0; i < tables_.size(); ++i) on_rows_(i, rows_of(i));
  }

  /// A table, and who judges it.
  struct JudgedTable {
    JudgedTable(const SubjectTable& table, VisibilityJudge::Reader read,
                std::function<std::optional<CheckpointId>()> decided)
        : facts(table),
          judge(table.reference, table.schema.mode, std::move(read), std::move(decided)) {}

    const SubjectTable& facts;
    std::optional<TableReader> reader;
    std::uint32_t opened_in = 0;  ///< Which life of the database.
    VisibilityJudge judge;
  };

  const Case& scenario_;
  const Subject& subject_;
  const std::function<void(const std::vector<sim::Drawn>&)>& on_draws_;
  const std::function<void(std::size_t, std::vector<OwnedRow>)>& on_rows_;
  const std::function<void(const EffectCounts&)>& on_effects_;
  std::optional<sim::DrawBook> book_;
  sim::World world_;
  sim::Arrivals arrivals_;
  sim::NodeId store_;
  sim::NodeId log_;
  sim::NodeId database_;
  std::optional<sim::SqliteVfs> vfs_;  ///< None if the table is in memory.
  sim::MemoryDatabase memory_;
  CoordinatorOptions coordinator_options_;
  WorkerOptions worker_options_;
  std::optional<faults::Injector> injector_;
  bool finished_ = false;
  std::optional<Verdict> ended_;  ///< Before the job was finished.
  CheckpointId decided_;
  Instant last_progress_;
  Outcome outcome_;
  std::map<CheckpointId, std::uint64_t> dropped_;  ///< As late, says the manifest of a checkpoint.
  LeftoversJudge leftovers_;
  std::set<std::string> objects_at_the_end_;
  std::vector<std::unique_ptr<JudgedTable>> tables_;
  UserCodeJudge user_code_;
};

}  // namespace

std::chrono::nanoseconds liveness_bound(const CheckpointOptions& checkpoint,
                                        const RestartOptions& restart) {
  const CoordinatorOptions defaults;
  const auto once = checkpoint.interval + checkpoint.min_pause + checkpoint.timeout +
                    defaults.lease + defaults.timing.dead_after +
                    std::max(restart.delay, restart.max_delay);
  // What is stuck is tolerated for a while, and then a takeover repairs it.
  return checkpoint.tolerable_failures * checkpoint.timeout + 3 * once;
}

Outcome run_case(const Case& scenario, const Subject& subject, sim::StackPool& stacks,
                 const Observers& observers) {
  return Experiment(scenario, subject, stacks, observers).run();
}

}  // namespace millrace::properties
