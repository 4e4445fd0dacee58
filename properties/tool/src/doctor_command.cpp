#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/files/directory_store.hpp"
#include "millrace/posix/file_system_facts.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/posix/real_clock.hpp"
#include "millrace/runtime/sink/sink_recovery.hpp"
#include "millrace/sqlite/database.hpp"
#include "millrace/sqlite/fence_decision.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "commands.hpp"
#include "explain.hpp"
#include "figures.hpp"
#include "guarantee.hpp"
#include "stored_job.hpp"

namespace millrace::tool {
namespace {

constexpr int unfit = 7;

/// What was found, told as it is found.
class Findings {
 public:
  void ok(const std::string& what) { tell("ok", what); }
  void warn(const std::string& what) {
    ++warnings_;
    tell("warn", what);
  }
  void fail(const std::string& what) {
    ++failures_;
    tell("fail", what);
  }

  int sum_up() const {
    const std::string known = warnings_ == 0 ? "" : fmt::format(", {} to know", warnings_);
    if (failures_ != 0) {
      fmt::print("\n{} to repair{}: a run would fail, or its promises would not hold\n", failures_,
                 known);
      return unfit;
    }
    fmt::print("\nnothing to repair{}\n", known);
    return 0;
  }

 private:
  static void tell(const char* verdict, const std::string& what) {
    constexpr std::size_t width = 92;
    fmt::print("{:<5} {}\n", verdict, wrapped(what, width, std::string(6, ' ')));
  }

  int warnings_ = 0;
  int failures_ = 0;
};

/// The directory itself, or the first above it that is there.
std::string nearest_directory(const std::string& directory) {
  std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  std::error_code error;
  while (!path.empty() && !std::filesystem::exists(path, error)) path = path.parent_path();
  return path.empty() ? "." : path.string();
}

double milliseconds(std::chrono::nanoseconds span) {
  return static_cast<double>(span.count()) / 1e6;
}

/// How long the four steps take by which an object is stored (STORE.md).
struct StoreTimes {
  std::chrono::nanoseconds write{0};
  std::chrono::nanoseconds sync{0};
  std::chrono::nanoseconds rename{0};
  std::chrono::nanoseconds sync_directory{0};

  std::chrono::nanoseconds all() const { return write + sync + rename + sync_directory; }
};

/// Stores an object as the store does and removes it. Throws IoError.
StoreTimes time_store(const std::string& directory) {
  constexpr std::size_t written_bytes = 4096;
  const std::string from = directory + "/doctor~1";
  const std::string to = directory + "/doctor~2";
  posix::PosixDisk disk;
  posix::RealClock clock;
  const std::array<Instant, 5> at = [&] {
    std::array<Instant, 5> times{};
    times[0] = clock.now();
    const auto file = disk.open(from, Disk::Open::create);
    file->write_at(0, Bytes(written_bytes));
    times[1] = clock.now();
    file->sync();
    times[2] = clock.now();
    disk.rename(from, to);
    times[3] = clock.now();
    disk.sync_directory(directory);
    times[4] = clock.now();
    return times;
  }();
  disk.remove(to);
  return {at[1] - at[0], at[2] - at[1], at[3] - at[2], at[4] - at[3]};
}

/// Returns whether anything can be written there.
bool examine_directory(const RealJob& real, const std::string& directory, Findings& findings) {
  const std::string& state = real.state_directory;
  const std::string name =
      directory == state ? "state directory " + state
                         : fmt::format("state directory {}, to be made in {}", state, directory);
  constexpr int tries = 3;
  StoreTimes slowest;
  try {
    for (int i = 0; i < tries; ++i) {
      const StoreTimes times = time_store(directory);
      if (times.all() > slowest.all()) slowest = times;
    }
  } catch (const IoError& error) {
    findings.fail(fmt::format("{}: {}", name, error.what()));
    return false;
  }
  findings.ok(fmt::format(
      "{}: write {:.2f} ms, sync {:.2f} ms, rename {:.2f} ms, sync of the directory {:.2f} ms",
      name, milliseconds(slowest.write), milliseconds(slowest.sync), milliseconds(slowest.rename),
      milliseconds(slowest.sync_directory)));
  // State, manifest and head are stored one behind the other.
  constexpr int objects_in_turn = 3;
  if (objects_in_turn * slowest.all() > real.checkpoint.interval) {
    findings.warn(
        fmt::format("a checkpoint stores {} objects in turn, which here takes {:.0f} ms; "
                    "`checkpoint.interval` is {} ms",
                    objects_in_turn, milliseconds(objects_in_turn * slowest.all()),
                    real.checkpoint.interval / std::chrono::milliseconds(1)));
  }
  return true;
}

/// What `what` lies on, and what that means for it.
void examine_file_system(const std::string& what, const posix::FileSystemFacts& facts,
                         Findings& findings) {
  const std::string where =
      facts.mount_point.empty()
          ? fmt::format("{} lies on a file system that /proc/self/mounts does not tell of", what)
          : fmt::format("{} lies on {}, of type {}", what, facts.mount_point, facts.type);
  switch (posix::keeping_of(facts.type)) {
    case posix::Keeping::local: findings.ok(where); return;
    case posix::Keeping::memory:
      findings.warn(where + ": what is there is gone with the power");
      return;
    case posix::Keeping::layer:
      findings.warn(where +
                    ": what is there is gone with the container, and what a sync means is "
                    "that of the layer below");
      return;
    case posix::Keeping::remote:
      findings.warn(where +
                    ": that a sync and a lock mean what they say is its server's word, and "
                    "SQLite's log needs memory that is shared on one machine");
      return;
    case posix::Keeping::unknown:
      findings.warn(where + ": whether a sync there outlives a loss of power is not known");
      return;
  }
}

void examine_room(const posix::FileSystemFacts& facts, const std::optional<StoredJob>& stored,
                  Findings& findings) {
  if (facts.size_bytes == 0) return;
  constexpr std::uint64_t checkpoints =
      3;  // The last one, the next one, and what is not yet swept.
  const std::string room =
      fmt::format("{} of {} are free", size_text(facts.free_bytes), size_text(facts.size_bytes));
  if (stored && facts.free_bytes < checkpoints * stored->size_bytes()) {
    findings.fail(fmt::format("{}, which is less than {} checkpoints of {}", room, checkpoints,
                              size_text(stored->size_bytes())));
  } else if (facts.free_bytes < facts.size_bytes / 20) {
    findings.warn(room + ", which is less than a twentieth");
  } else if (stored) {
    findings.ok(fmt::format("{}; a checkpoint is of {}", room, size_text(stored->size_bytes())));
  } else {
    findings.ok(room);
  }
}

void examine_lock(const std::string& directory, Findings& findings) {
  const std::string lock = directory + "/doctor~lock";
  try {
    if (posix::lock_keeps_others_out(lock)) {
      findings.ok("a lock there keeps other processes out");
    } else {
      findings.fail("a lock there keeps nobody out: two runs could own the job at once");
    }
    posix::PosixDisk().remove(lock);
  } catch (const IoError& error) {
    findings.fail(error.what());
  }
}

void examine_state(const std::optional<StoredJob>& stored, Findings& findings) {
  if (!stored) {
    findings.ok("there is no state yet: a run begins with the first record");
    return;
  }
  const char* const status = stored->head.status == JobStatus::finished ? ", finished" : "";
  findings.ok(fmt::format("head and manifest can be read: term {}, checkpoint {}{}",
                          stored->head.term.number, to_text(stored->head.checkpoint), status));
}

void examine_state_objects(const RealJob& real, const StoredJob& stored, Findings& findings) {
  posix::PosixDisk disk;
  DirectoryStore store(disk, real.state_directory, "doctor");
  for (const StateObject& object : stored.manifest.states) {
    if (store.read(object.name, 0, 1, Instant::never())) continue;
    findings.fail(fmt::format("a run would be refused ({}): {} is not there",
                              name_of(Refusal::state_unreadable), object.name));
  }
}

void examine_input(const RealJob& real, const std::optional<StoredJob>& stored,
                   Findings& findings) {
  JobFacts now;
  try {
    now = facts_of(real);
  } catch (const UsageError& error) {
    findings.fail(fmt::format("input: {}", error.what()));
    return;
  }
  std::uint64_t bytes = 0;
  for (const auto& [source, facts] : now.partitions) bytes += static_cast<std::uint64_t>(facts.end);
  findings.ok(fmt::format("input: {} partitions of {}", now.partitions.size(), size_text(bytes)));
  if (!stored) return;
  if (const auto mismatch = find_mismatch(stored->manifest, now)) {
    findings.fail(
        fmt::format("a run would be refused ({}): {}", name_of(mismatch->why), mismatch->what));
    return;
  }
  std::uint64_t known = 0;
  for (const ManifestPartition& partition : stored->manifest.partitions) {
    known += static_cast<std::uint64_t>(partition.facts.end);
  }
  if (bytes > known) {
    findings.warn(fmt::format("{} of it came after the job had begun, and are not read",
                              size_text(bytes - known)));
  }
}

/// What keeps a log of commits from being emptied: pages of it that nobody could copy yet.
void examine_log(Database& database, Findings& findings) {
  Statement checkpoint(database, "PRAGMA wal_checkpoint(PASSIVE)");
  if (!checkpoint.step()) return;
  const auto number = [&](int column) {
    const Cell cell = checkpoint.column(column);
    const auto* const value = std::get_if<std::int64_t>(&cell);
    return value == nullptr ? std::int64_t{0} : *value;
  };
  const std::int64_t is_busy = number(0);
  const std::int64_t pages = number(1);
  const std::int64_t copied = number(2);
  if (is_busy == 0 && copied >= pages) return;
  findings.warn(
      fmt::format("database {}: {} of {} pages of its log cannot be copied into it: a "
                  "reader is in the way, and the log grows until it ends",
                  database.path(), pages - copied, pages));
}

void examine_existing_database(const std::string& path, Findings& findings) {
  std::string mode;
  Database database(path, "", Database::Access::write);
  {
    Statement question(database, "PRAGMA journal_mode");
    if (question.step()) {
      const Cell cell = question.column(0);
      if (const auto* const text = std::get_if<std::string_view>(&cell)) mode = *text;
    }
  }
  {
    const Transaction transaction(database, Transaction::Kind::write);  // Whoever is there ends it.
  }
  std::error_code error;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", error);
  if (mode != "wal") {
    findings.ok(
        fmt::format("database {}: can be written; a run changes its journal mode from `{}` "
                    "to `wal`",
                    path, mode));
    return;
  }
  database.make_durable();  // Of a file that has a log it changes nothing.
  findings.ok(
      fmt::format("database {}: a commit is durable (write-ahead log of {}, full "
                  "synchronisation)",
                  path, size_text(error ? 0 : log_bytes)));
  examine_log(database, findings);
}

/// Makes one beside the place where it will be, and removes it.
void examine_coming_database(const std::string& path, Findings& findings) {
  const std::string trial = path + ".doctor";
  posix::PosixDisk disk;
  try {
    Database database(trial, "", Database::Access::write);
    database.make_durable();
    database.execute("CREATE TABLE trial (a INTEGER)");
    findings.ok(
        fmt::format("database {}: not there yet; one made there keeps its commits durable", path));
  } catch (const std::exception& error) {
    findings.fail(error.what());
  }
  for (const char* const ending : {"", "-wal", "-shm", "-journal"}) disk.remove(trial + ending);
}

void examine_database(const std::string& path, Findings& findings) {
  try {
    if (database_exists(path, "")) {
      examine_existing_database(path, findings);
    } else {
      examine_coming_database(path, findings);
    }
  } catch (const std::exception& error) {
    findings.fail(error.what());
  }
}

/// What a takeover would find at a sink.
SinkRecoveryFacts facts_at(const RealJob& real, const RealJob::Table& table,
                           const std::optional<StoredJob>& stored, const TableLook& look) {
  SinkRecoveryFacts facts;
  FenceRequest request{{}, Term{}.next(), true, false};
  if (stored) {
    const Manifest& manifest = stored->manifest;
    request = {manifest.lineage, stored->head.term.next(),
               stored->head.checkpoint == CheckpointId::genesis(), false};
    facts.restored = stored->head.checkpoint;
    for (const StagedObject& object : manifest.staged) {
      if (object.sink == table.sink) facts.listed.push_back(object);
    }
  }
  facts.lineage = request.lineage;
  facts.fenced = decide_fence({request, look.marker, look.rows != 0});
  posix::PosixDisk disk;
  DirectoryStore store(disk, real.state_directory, "doctor");
  for (const StagedObject& object : facts.listed) {
    if (!store.read(object.name, 0, 1, Instant::never())) facts.missing.push_back(object.name);
  }
  return facts;
}

void examine_table(const RealJob& real, const RealJob::Table& table,
                   const std::optional<StoredJob>& stored, bool is_run, Findings& findings) {
  const std::string where = fmt::format("table `{}` in {}", table.schema.table, table.database);
  TableReader reader(table.database, "", table.schema.table);
  const auto ignore = [](std::int64_t, std::span<const Cell>) {};
  TableLook look = reader.look(ignore, std::numeric_limits<std::int64_t>::max());
  if (look.outcome == TableLook::Outcome::busy) {
    findings.warn(where + ": nobody is let in at the moment");
    return;
  }
  if (!look.marker) look = reader.look(ignore);  // Without one it matters whether there are rows.
  if (is_run) {
    findings.ok(where + (look.marker ? " shows checkpoint " + to_text(look.marker->published)
                                     : std::string(" shows nothing yet")));
    return;
  }
  const SinkRecovery recovery = decide_sink_recovery(facts_at(real, table, stored, look));
  if (const auto* const refused = std::get_if<RefuseSink>(&recovery)) {
    const std::string what = !stored && refused->why == Refusal::sink_foreign
                                 ? "it holds rows of another history, and there is no state of it"
                                 : refused->what;
    // A run of a finished job looks at no table.
    const bool is_finished = stored && stored->head.status == JobStatus::finished;
    findings.fail(fmt::format(
        "{} ({}): {}: {}",
        is_finished ? "the rows of the finished job are not there" : "a run would be refused",
        name_of(refused->why), where, what));
  } else if (std::holds_alternative<SinkSuperseded>(recovery)) {
    findings.fail(where + " belongs to a later term than the state: the state was put back");
  } else if (!look.marker) {
    findings.ok(where + (look.outcome == TableLook::Outcome::absent ? " is made by the first run"
                                                                    : " is empty"));
  } else {
    findings.ok(fmt::format("{} shows checkpoint {}", where, to_text(look.marker->published)));
  }
}

}  // namespace

int doctor_command(const DoctorFlags& flags, const Jobs& jobs) {
  const RealJob real = load_real_job(flags.job, flags.settings, jobs);
  const std::string directory = nearest_directory(real.state_directory);
  Findings findings;
  const bool is_writable = examine_directory(real, directory, findings);

  std::optional<std::string> owner;
  std::optional<StoredJob> stored;
  bool is_readable = true;
  try {
    owner = owner_of(real.state_directory);
    stored = read_stored_job(real.state_directory);
  } catch (const Refused& refused) {
    is_readable = false;
    findings.fail(
        fmt::format("a run would be refused ({}): {}", name_of(refused.why()), refused.what()));
  } catch (const WorldError& error) {
    is_readable = false;
    findings.fail(error.what());
  }
  const posix::FileSystemFacts home = posix::file_system_of(directory);
  examine_file_system("the state directory", home, findings);
  examine_room(home, stored, findings);
  if (is_writable) examine_lock(directory, findings);
  if (owner) findings.ok("the job is run by " + *owner);
  if (is_readable) examine_state(stored, findings);
  if (stored && !owner) examine_state_objects(real, *stored, findings);
  examine_input(real, stored, findings);

  std::set<std::string> databases;
  for (const RealJob::Table& table : real.tables) {
    if (!databases.insert(table.database).second) continue;
    examine_database(table.database, findings);
    const auto parent = std::filesystem::path(table.database).parent_path();
    std::error_code error;
    if (!parent.empty() && !std::filesystem::is_directory(parent, error)) continue;
    const auto facts = posix::file_system_of(parent.empty() ? "." : parent.string());
    if (facts.mount_point != home.mount_point) {
      examine_file_system("database " + table.database, facts, findings);
    }
  }
  if (is_readable) {
    for (const RealJob::Table& table : real.tables) {
      try {
        examine_table(real, table, stored, owner.has_value(), findings);
      } catch (const std::exception& error) {
        findings.fail(error.what());
      }
    }
  }
  return findings.sum_up();
}

}  // namespace millrace::tool
