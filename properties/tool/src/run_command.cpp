#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "millrace/env/anchor.hpp"
#include "millrace/env/error.hpp"
#include "millrace/files/file_log.hpp"
#include "millrace/posix/host_facts.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/posix/process.hpp"
#include "millrace/posix/stop_signals.hpp"
#include "millrace/runtime/coordinator/coordinator.hpp"
#include "millrace/runtime/landmarks.hpp"
#include "millrace/runtime/worker/worker.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/sqlite_tables.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "commands.hpp"
#include "job_loading.hpp"
#include "stored_job.hpp"

namespace millrace::tool {
namespace {

using namespace std::chrono_literals;

constexpr int interrupted = 130;
constexpr int lost_ownership = 9;

double seconds(std::chrono::nanoseconds span) { return static_cast<double>(span.count()) / 1e9; }

/// Tells how a job goes on: a line that renews itself on a terminal, a line now and then elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(Clock& clock)
      : clock_(clock),
        start_(clock.now()),
        on_terminal_(posix::output_is_terminal()),
        shown_(start_) {}

  void show(const Progress& progress) {
    const Instant now = clock_.now();
    if (progress.completed != completed_) {
      completed_ = progress.completed;
      completed_at_ = now;
    }
    if (now - shown_ < (on_terminal_ ? 200ms : 2000ms)) return;
    const double rate = static_cast<double>(progress.records_read - last_read_) /
                        std::max(seconds(now - shown_), 1e-3);
    if (progress.term == last_term_ && progress.records_read >= last_read_) rate_ = rate;
    last_read_ = progress.records_read;
    last_term_ = progress.term;
    shown_ = now;
    std::string line = describe(progress, now);
    if (on_terminal_) {
      fmt::print("\r\x1b[K{}", line);
    } else if (line != last_line_) {
      fmt::print("{}\n", line);
    }
    last_line_ = std::move(line);
    std::fflush(stdout);
  }

  void note(const std::string& sentence) {
    fmt::print("{}note: {}\n", on_terminal_ ? "\r\x1b[K" : "", sentence);
  }

  /// Ends the line, if there is one.
  void end() {
    if (on_terminal_ && !last_line_.empty()) fmt::print("\n");
    std::fflush(stdout);
  }

  double elapsed() { return seconds(clock_.now() - start_); }

 private:
  std::string describe(const Progress& progress, Instant now) const {
    const char* const state = progress.state == Progress::State::starting     ? "starting"
                              : progress.state == Progress::State::recovering ? "recovering"
                              : progress.state == Progress::State::running    ? "running"
                              : progress.state == Progress::State::finishing  ? "finishing"
                                                                              : "finished";
    std::string line =
        fmt::format("{:<10} {:>12} records {:>9.0f}/s", state, progress.records_read, rate_);
    if (completed_ != CheckpointId{}) {
      line += fmt::format("   checkpoint {} ({:.1f} s old)", to_text(completed_),
                          seconds(now - completed_at_));
    }
    line += fmt::format("   visible through {}   {} rows", to_text(progress.published),
                        progress.rows_published);
    return line;
  }

  Clock& clock_;
  Instant start_;
  bool on_terminal_;
  Instant shown_;
  Instant completed_at_;
  CheckpointId completed_;
  std::uint64_t last_read_ = 0;
  Term last_term_;
  double rate_ = 0;
  std::string last_line_;
};

/// Where this process is to kill itself, if anywhere. A misspelt place would be a trial that was
/// none.
std::string anchor_of_death() {
  const char* const text = std::getenv("MILLRACE_KILL_AT");
  if (text == nullptr || *text == '\0') return "";
  const Anchor anchor = parse_anchor(text);
  if (landmarks::find(anchor.landmark) == nullptr) {
    throw UsageError(
        fmt::format("MILLRACE_KILL_AT: there is no landmark `{}`; `millrace landmarks` "
                    "lists them",
                    anchor.landmark));
  }
  return text;
}

/// Holds the job's directory for as long as this process lives.
std::unique_ptr<FileLock> own_directory(posix::PosixDisk& disk, const std::string& directory) {
  const std::string lock_file = directory + "/owner.lock";
  try {
    disk.make_directory(directory);
    // Who only looks at the lock holds it for a moment.
    constexpr int looks = 100;
    for (int i = 0; i < looks; ++i) {
      if (auto lock = disk.try_lock(lock_file)) return lock;
      if (posix::is_locked(lock_file)) break;
    }
  } catch (const IoError& error) {
    throw UsageError(fmt::format("the state directory cannot be used: {}", error.what()));
  }
  throw Refused(Refusal::already_owned,
                fmt::format("{} belongs to {}", directory,
                            posix::lock_owner(lock_file).value_or("another process")));
}

/// A new history may only begin where no other left rows. The processor refuses that by itself, but
/// only when the old history is given up already.
void refuse_occupied(const RealJob::Table& table) {
  const std::string& name = table.schema.table;
  const TableLook look =
      TableReader(table.database, "", name).look([](std::int64_t, std::span<const Cell>) {});
  if (look.outcome != TableLook::Outcome::seen || look.rows == 0) return;
  throw Refused(Refusal::sink_occupied,
                fmt::format("table `{}` in {} has {} rows", name, table.database, look.rows));
}

/// Moves rows from the database's log into its file, so that a copy of that file has them all.
void tidy_database(const std::string& path) {
  try {
    Database database(path, "", Database::Access::write);
    database.execute("PRAGMA schema_version");  // Before it has read, it knows of no log.
    database.checkpoint();
  } catch (const std::exception&) {
    // They are as safe and as visible in the log.
  }
}

/// State is dealt out anew if there are other subtasks than before; the user should know.
void note_rescaling(const RealJob& real, ProgressLine& line) {
  std::optional<StoredJob> stored;
  try {
    stored = read_stored_job(real.state_directory);
  } catch (const std::exception&) {
    return;  // Whoever takes the job over finds the same, and says so.
  }
  if (!stored || stored->head.status == JobStatus::finished) return;
  const Manifest& manifest = stored->manifest;
  if (manifest.id == CheckpointId::genesis() || manifest.parallelism == real.parallelism) return;
  line.note(fmt::format("goes on with {} subtask{} of each operator instead of {}",
                        real.parallelism, real.parallelism == 1 ? "" : "s", manifest.parallelism));
}

/// What became of the coordinator's task.
struct CoordinatorEnd {
  std::optional<JobEnd> end;
  std::exception_ptr error;
};

void coordinate(Env& env, const Job& job, const CoordinatorOptions& options, CoordinatorEnd& end) {
  try {
    end.end = run_coordinator(env, job, options);
  } catch (const std::exception&) {
    end.error = std::current_exception();
  }
}

/// `table a in x.db`, `tables a in x.db and b in x.db`.
std::string places_of(const std::vector<RealJob::Table>& tables) {
  std::string text = tables.size() == 1 ? "table " : "tables ";
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i != 0) text += i + 1 == tables.size() ? " and " : ", ";
    text += fmt::format("{} in {}", tables[i].schema.table, tables[i].database);
  }
  return text;
}

bool is_any_staged(const std::vector<RealJob::Table>& tables) {
  return std::any_of(tables.begin(), tables.end(), [](const RealJob::Table& table) {
    return table.schema.mode == SinkMode::staged;
  });
}

int report_end(JobEnd end, const RealJob& real, const Progress& progress, ProgressLine& line) {
  const auto where = places_of(real.tables);
  switch (end) {
    case JobEnd::finished:
      fmt::print("finished in {:.1f} s: {} records read, all rows visible in {}\n", line.elapsed(),
                 progress.records_done, where);
      if (progress.visible_delay > 0ns && is_any_staged(real.tables)) {
        fmt::print("  rows were visible at most {:.2f} s after their records were read\n",
                   seconds(progress.visible_delay));
      }
      if (progress.records_skipped != 0) {
        fmt::print("  {} bad records were skipped\n", progress.records_skipped);
      }
      if (progress.records_late != 0) {
        fmt::print("  {} records came later than `disorder` allows, and were dropped\n",
                   progress.records_late);
      }
      return 0;
    case JobEnd::already_finished:
      fmt::print("this job is finished: all rows are visible in {}\n", where);
      return 0;
    case JobEnd::stopped:
      fmt::print(
          "stopped at checkpoint {}: everything up to it is visible in {}; run it again to "
          "go on\n",
          to_text(progress.completed), where);
      return interrupted;
    case JobEnd::ownership_lost:
      fmt::print(stderr, "millrace: another process has taken this job over\n");
      return lost_ownership;
  }
  return 0;
}

}  // namespace

int run_command(const RunFlags& flags, const Jobs& jobs) {
  RealJob real = load_real_job(flags.job, flags.settings, jobs);
  if (flags.parallelism) real.parallelism = *flags.parallelism;
  const Job& job = real.job;
  const std::string kill_at = anchor_of_death();

  posix::PosixDisk disk;
  // A job without input leaves nothing behind, not even a directory.
  if (!std::filesystem::exists(real.state_directory)) {
    for (const std::string& address : real.addresses) {
      FileLog(disk).partitions(address, Instant::never());
    }
  }
  const auto ownership = own_directory(disk, real.state_directory);
  if (flags.fresh && !flags.adopt) {
    for (const RealJob::Table& table : real.tables) refuse_occupied(table);
  }
  posix::ProcessOptions setup;
  setup.store_directory = real.state_directory;
  setup.coordinators = {"coordinator1"};
  setup.workers = {"worker1"};
  setup.log_file = flags.log_file;
  setup.kill_at = kill_at;
  setup.services = real.services;
  SqliteTables tables;
  posix::Process process(setup, tables);
  process.store().remove_temporaries();

  WorkerOptions worker_options;
  worker_options.records_per_second = flags.records_per_second;
  CoordinatorOptions options;
  options.parallelism = real.parallelism;
  options.checkpoint = real.checkpoint;
  options.restart = real.restart;
  options.is_only_candidate = true;  // The directory's lock sees to it.
  options.fresh = flags.fresh;
  options.adopt = flags.adopt;
  CoordinatorEnd end;

  const posix::StopSignals signals;
  ProgressLine line(process.clock());
  if (!flags.fresh) note_rescaling(real, line);
  const auto worker =
      process.start("worker1", "worker", [&](Env& env) { run_worker(env, job, worker_options); });
  const auto coordinator = process.start("coordinator1", "coordinator",
                                         [&](Env& env) { coordinate(env, job, options, end); });
  bool asked_to_stop = false;
  while (!coordinator->join(process.clock().now() + 100ms)) {
    if (signals.requested() && !asked_to_stop) {
      asked_to_stop = true;
      process.request_stop();
      line.end();
      fmt::print("stopping behind one more checkpoint; once more to stop at once\n");
    }
    for (const std::string& note : process.take_notes()) line.note(note);
    line.show(process.progress());
  }
  for (const std::string& note : process.take_notes()) line.note(note);
  worker->cancel();
  worker->join(Instant::never());
  line.end();
  if (end.error) std::rethrow_exception(end.error);
  for (const RealJob::Table& table : real.tables) tidy_database(table.database);
  return report_end(*end.end, real, process.progress(), line);
}

}  // namespace millrace::tool
