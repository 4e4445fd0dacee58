#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/sink/sink_recovery.hpp"
#include "millrace/sqlite/table_reader.hpp"

#include "commands.hpp"
#include "figures.hpp"
#include "stored_job.hpp"
#include "test_report.hpp"

namespace millrace::tool {
namespace {

/// What a reader of a sink's table sees of the job.
struct Visible {
  const RealJob::Table* table = nullptr;
  std::optional<CheckpointId> id;  ///< Nothing: the table does not say.
  bool is_foreign = false;         ///< It says so of another history.
  bool is_busy = false;
  std::uint64_t rows_waiting = 0;  ///< Decided and not visible yet.
};

Visible look_at(const RealJob::Table& table, const StoredJob& stored) {
  Visible seen;
  seen.table = &table;
  TableReader reader(table.database, "", table.schema.table);
  const TableLook look = reader.look([](std::int64_t, std::span<const Cell>) {},
                                     std::numeric_limits<std::int64_t>::max());
  seen.is_busy = look.outcome == TableLook::Outcome::busy;
  if (!look.marker) return seen;
  seen.id = look.marker->published;
  seen.is_foreign = look.marker->lineage != stored.head.lineage;
  if (seen.is_foreign) return seen;
  for (const StagedObject& object : above(look.marker->published, stored.manifest.staged)) {
    if (object.sink == table.sink) seen.rows_waiting += object.rows;
  }
  return seen;
}

std::int64_t lag_of(const ManifestPartition& partition) {
  return std::max<std::int64_t>(partition.facts.end - partition.progress.position.offset, 0);
}

struct Sums {
  std::uint64_t records = 0;
  std::uint64_t skipped = 0;
  std::int64_t bytes = 0;
  std::int64_t lag = 0;
};

Sums sums_of(const Manifest& manifest) {
  Sums sums;
  for (const ManifestPartition& partition : manifest.partitions) {
    sums.records += partition.progress.records;
    sums.skipped += partition.progress.skipped;
    sums.bytes += partition.facts.end;
    sums.lag += lag_of(partition);
  }
  return sums;
}

/// `running`, `finished`, or that it waits for somebody to go on.
std::string_view status_of(const StoredJob& stored, const std::optional<std::string>& owner) {
  if (owner) return "running";
  if (stored.head.status == JobStatus::finished) return "finished";
  return "stopped";
}

void print_partitions(const Manifest& manifest) {
  std::size_t width = 0;
  for (const ManifestPartition& partition : manifest.partitions) {
    width = std::max(width, partition.facts.name.size());
  }
  for (const ManifestPartition& partition : manifest.partitions) {
    const PartitionProgress& progress = partition.progress;
    const std::string lag =
        progress.ended ? "read to its end"
                       : size_text(static_cast<std::uint64_t>(lag_of(partition))) + " to read";
    fmt::print("          {:<{}}  byte {:>10} of {:>10}, line {:>8}, {}; newest {}\n",
               partition.facts.name, width, progress.position.offset, partition.facts.end,
               progress.position.line, lag, time_text(progress.newest));
  }
}

void print_checkpoint(const StoredJob& stored) {
  const Manifest& manifest = stored.manifest;
  fmt::print("newest    checkpoint {}: {}, taken by {} subtasks each\n", to_text(manifest.id),
             size_text(stored.size_bytes()), manifest.parallelism);
  for (const auto& [name, one] : stored.operators()) {
    std::string parts;
    if (one.state_bytes != 0) parts += size_text(one.state_bytes) + " of state";
    if (one.staged_bytes != 0) {
      parts += fmt::format("{}{} of {} staged rows", parts.empty() ? "" : ", ",
                           size_text(one.staged_bytes), grouped(one.staged_rows));
    }
    fmt::print("          {}: {}\n", name, parts);
  }
}

std::string text_of(const Visible& seen) {
  const std::string where =
      fmt::format("table {} in {}", seen.table->schema.table, seen.table->database);
  if (seen.is_busy) return where + ": nobody is let in at the moment";
  if (!seen.id) return where + ": nothing is visible";
  if (seen.is_foreign) return where + ": it shows another history";
  std::string text = fmt::format("{}: checkpoint {} is visible", where, to_text(*seen.id));
  if (seen.rows_waiting != 0) {
    text += fmt::format(", {} decided rows are not yet", grouped(seen.rows_waiting));
  }
  return text;
}

void print_text(const RealJob& real, const StoredJob& stored,
                const std::optional<std::string>& owner, const std::vector<Visible>& tables) {
  const std::string_view status = status_of(stored, owner);
  fmt::print("job       {}: {}{}\n", real.name, status,
             owner                 ? " by " + *owner
             : status == "stopped" ? ", and goes on when it is run"
                                   : std::string(", all rows are visible"));
  fmt::print("state     {}, in its term {}\n", real.state_directory, stored.head.term.number);
  print_checkpoint(stored);
  const Sums sums = sums_of(stored.manifest);
  fmt::print("input     {} records read, {} skipped, {} dropped as late; {} of {} to read\n",
             grouped(sums.records), grouped(sums.skipped), grouped(stored.manifest.records_late),
             size_text(static_cast<std::uint64_t>(sums.lag)),
             size_text(static_cast<std::uint64_t>(sums.bytes)));
  print_partitions(stored.manifest);
  for (const OperatorWatermark& one : stored.manifest.watermarks) {
    const bool is_end = one.watermark == EventTime::max();
    fmt::print("watermark {}: {}\n", one.operator_name,
               is_end ? "all of its input" : time_text(one.watermark));
  }
  for (const Visible& seen : tables) fmt::print("sink      {}\n", text_of(seen));
}

nlohmann::ordered_json optional_text(const std::optional<std::string>& text) {
  return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json();
}

/// Milliseconds since 1970, or null for what is no record's time.
nlohmann::ordered_json time_json(EventTime time) {
  if (time == EventTime::min() || time == EventTime::max()) return {};
  return time.ms;
}

void print_json(const RealJob& real, const StoredJob& stored,
                const std::optional<std::string>& owner, const std::vector<Visible>& tables) {
  const Manifest& manifest = stored.manifest;
  nlohmann::ordered_json json;
  json["job"] = real.name;
  json["status"] = status_of(stored, owner);
  json["owner"] = optional_text(owner);
  json["state_directory"] = real.state_directory;
  json["lineage"] = to_text(stored.head.lineage);
  json["term"] = stored.head.term.number;
  json["checkpoint"] = {{"id", to_text(manifest.id)},
                        {"size_bytes", stored.size_bytes()},
                        {"parallelism", manifest.parallelism}};
  auto& operators = json["operators"] = nlohmann::ordered_json::array();
  for (const auto& [name, one] : stored.operators()) {
    operators.push_back({{"name", name},
                         {"state_bytes", one.state_bytes},
                         {"staged_rows", one.staged_rows},
                         {"staged_bytes", one.staged_bytes}});
  }
  const Sums sums = sums_of(manifest);
  json["records"] = {
      {"read", sums.records}, {"skipped", sums.skipped}, {"late", manifest.records_late}};
  json["lag_bytes"] = sums.lag;
  auto& partitions = json["partitions"] = nlohmann::ordered_json::array();
  for (const ManifestPartition& partition : manifest.partitions) {
    const PartitionProgress& progress = partition.progress;
    partitions.push_back({{"source", progress.source},
                          {"name", partition.facts.name},
                          {"offset", progress.position.offset},
                          {"line", progress.position.line},
                          {"end", partition.facts.end},
                          {"lag_bytes", lag_of(partition)},
                          {"ended", progress.ended},
                          {"records", progress.records},
                          {"skipped", progress.skipped},
                          {"newest_ms", time_json(progress.newest)}});
  }
  auto& watermarks = json["watermarks"] = nlohmann::ordered_json::array();
  for (const OperatorWatermark& one : manifest.watermarks) {
    watermarks.push_back({{"operator", one.operator_name},
                          {"watermark_ms", time_json(one.watermark)},
                          {"at_end", one.watermark == EventTime::max()}});
  }
  auto& sinks = json["sinks"] = nlohmann::ordered_json::array();
  for (const Visible& seen : tables) {
    std::optional<std::string> visible;
    if (seen.id && !seen.is_foreign) visible = to_text(*seen.id);
    sinks.push_back({{"sink", seen.table->sink},
                     {"table", seen.table->schema.table},
                     {"database", seen.table->database},
                     {"mode", describe(seen.table->schema.mode)},
                     {"visible", optional_text(visible)},
                     {"rows_waiting", seen.rows_waiting}});
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int status_command(const StatusFlags& flags, const Jobs& jobs) {
  const RealJob real = load_real_job(flags.job, flags.settings, jobs);
  const auto owner = owner_of(real.state_directory);
  const StoredJob stored = expect_stored_job(real);
  std::vector<Visible> tables;
  for (const RealJob::Table& table : real.tables) tables.push_back(look_at(table, stored));
  if (flags.json) {
    print_json(real, stored, owner, tables);
  } else {
    print_text(real, stored, owner, tables);
  }
  return 0;
}

}  // namespace millrace::tool
