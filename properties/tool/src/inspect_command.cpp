#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "millrace/env/error.hpp"

#include "commands.hpp"
#include "figures.hpp"
#include "stored_job.hpp"
#include "test_report.hpp"

namespace millrace::tool {
namespace {

void expect_there(const StoredJob& stored, const std::string& wanted) {
  if (wanted.empty()) return;
  const auto id = parse_checkpoint_id(wanted);
  if (!id) {
    throw UsageError(
        fmt::format("CHECKPOINT: `{}`; a term and a number are expected, such as 3.17", wanted));
  }
  if (*id == stored.manifest.id) return;
  throw UsageError(fmt::format("CHECKPOINT: there is no {}; the store keeps {}, the newest",
                               to_text(*id), to_text(stored.manifest.id)));
}

void print_text(const StoredJob& stored) {
  const Manifest& manifest = stored.manifest;
  fmt::print("checkpoint {} of lineage {}\n", to_text(manifest.id), to_text(manifest.lineage));
  fmt::print("  {} of {}, checksum {:016x}\n", stored.head.manifest,
             size_text(stored.manifest_bytes), stored.head.manifest_checksum);
  fmt::print("  taken by {} subtasks of each operator, over {} key groups\n", manifest.parallelism,
             manifest.key_groups);
  fmt::print("  {} records dropped as late\n", grouped(manifest.records_late));
  fmt::print("\npartitions\n");
  for (const ManifestPartition& partition : manifest.partitions) {
    const PartitionProgress& progress = partition.progress;
    fmt::print("  {} of {}: {} bytes at genesis, beginning with {:016x}\n", partition.facts.name,
               progress.source, partition.facts.end, partition.facts.head_hash);
    fmt::print("    goes on at byte {}, line {}{}; {} records, {} skipped; newest {}\n",
               progress.position.offset, progress.position.line, progress.ended ? ", its end" : "",
               grouped(progress.records), grouped(progress.skipped), time_text(progress.newest));
  }
  fmt::print("\nwatermarks\n");
  for (const OperatorWatermark& one : manifest.watermarks) {
    fmt::print("  {}: {}\n", one.operator_name,
               one.watermark == EventTime::max() ? "all of its input" : time_text(one.watermark));
  }
  fmt::print("\nstate\n");
  for (const StateObject& object : manifest.states) {
    fmt::print("  {}, of subtask {}\n", object.name, object.subtask);
    for (const StateSection& section : object.sections) {
      fmt::print("    {} of {}: {} at byte {}, of shape {}\n", section.part, section.operator_name,
                 size_text(section.size_bytes), section.offset, section.shape);
    }
  }
  fmt::print("\nstaged rows, not known to be visible when it was taken\n");
  for (const StagedObject& object : manifest.staged) {
    fmt::print("  {}: {} rows for {}, {}\n", object.name, grouped(object.rows), object.sink,
               size_text(object.size_bytes));
  }
  fmt::print("\nwhat the job must be to go on from it\n");
  for (const FingerprintPart& part : manifest.fingerprint) {
    fmt::print("  {} = {}\n", part.key, part.value);
  }
}

void print_json(const StoredJob& stored) {
  const Manifest& manifest = stored.manifest;
  nlohmann::ordered_json json;
  json["checkpoint"] = to_text(manifest.id);
  json["lineage"] = to_text(manifest.lineage);
  json["manifest"] = {{"name", stored.head.manifest},
                      {"size_bytes", stored.manifest_bytes},
                      {"checksum", fmt::format("{:016x}", stored.head.manifest_checksum)}};
  json["parallelism"] = manifest.parallelism;
  json["key_groups"] = manifest.key_groups;
  json["records_late"] = manifest.records_late;
  auto& partitions = json["partitions"] = nlohmann::ordered_json::array();
  for (const ManifestPartition& partition : manifest.partitions) {
    const PartitionProgress& progress = partition.progress;
    partitions.push_back({{"source", progress.source},
                          {"name", partition.facts.name},
                          {"end", partition.facts.end},
                          {"head_hash", fmt::format("{:016x}", partition.facts.head_hash)},
                          {"offset", progress.position.offset},
                          {"line", progress.position.line},
                          {"ended", progress.ended},
                          {"records", progress.records},
                          {"skipped", progress.skipped},
                          {"newest_ms", progress.newest.ms}});
  }
  auto& watermarks = json["watermarks"] = nlohmann::ordered_json::array();
  for (const OperatorWatermark& one : manifest.watermarks) {
    watermarks.push_back({{"operator", one.operator_name}, {"watermark_ms", one.watermark.ms}});
  }
  auto& states = json["states"] = nlohmann::ordered_json::array();
  for (const StateObject& object : manifest.states) {
    nlohmann::ordered_json sections = nlohmann::ordered_json::array();
    for (const StateSection& section : object.sections) {
      sections.push_back({{"operator", section.operator_name},
                          {"part", section.part},
                          {"shape", section.shape},
                          {"offset", section.offset},
                          {"size_bytes", section.size_bytes},
                          {"checksum", fmt::format("{:016x}", section.checksum)}});
    }
    states.push_back(
        {{"name", object.name}, {"subtask", object.subtask}, {"sections", std::move(sections)}});
  }
  auto& staged = json["staged"] = nlohmann::ordered_json::array();
  for (const StagedObject& object : manifest.staged) {
    staged.push_back({{"name", object.name},
                      {"sink", object.sink},
                      {"checkpoint", to_text(object.id)},
                      {"subtask", object.subtask},
                      {"rows", object.rows},
                      {"size_bytes", object.size_bytes}});
  }
  auto& fingerprint = json["fingerprint"] = nlohmann::ordered_json::array();
  for (const FingerprintPart& part : manifest.fingerprint) {
    fingerprint.push_back({{"key", part.key}, {"value", part.value}});
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int inspect_command(const InspectFlags& flags, const Jobs& jobs) {
  const RealJob real = load_real_job(flags.job, flags.settings, jobs);
  const StoredJob stored = expect_stored_job(real);
  expect_there(stored, flags.checkpoint);
  if (flags.json) {
    print_json(stored);
  } else {
    print_text(stored);
  }
  return 0;
}

}  // namespace millrace::tool
