#include "millrace/runtime/coordinator/pending_checkpoint.hpp"

#include <algorithm>

#include "millrace/env/invariant.hpp"

namespace millrace {
namespace {

void merge(std::vector<OperatorWatermark>& into, const OperatorWatermark& one, bool may_differ) {
  const auto known =
      std::find_if(into.begin(), into.end(), [&](const OperatorWatermark& watermark) {
        return watermark.operator_name == one.operator_name;
      });
  if (known == into.end()) {
    into.push_back(one);
    return;
  }
  invariant(may_differ || known->watermark == one.watermark,
            "at an aligned barrier all subtasks of an operator have the same watermark");
  known->watermark = std::max(known->watermark, one.watermark);
}

void update(std::vector<ManifestPartition>& partitions, const PartitionProgress& progress) {
  const auto known =
      std::find_if(partitions.begin(), partitions.end(), [&](const ManifestPartition& partition) {
        return partition.progress.source == progress.source &&
               partition.facts.name == progress.name;
      });
  invariant(known != partitions.end(), "a source reads only partitions that genesis has seen");
  invariant(progress.position >= known->progress.position, "positions only ascend");
  known->progress = progress;
}

}  // namespace

AckOutcome PendingCheckpoint::acknowledge(Acknowledgement acknowledgement) {
  if (acknowledgement.id != id_) return AckOutcome::stale;
  if (!waited_for_.contains(acknowledgement.task)) return AckOutcome::unknown_task;
  const std::string task = acknowledgement.task;
  const bool is_new = acknowledged_.emplace(task, std::move(acknowledgement)).second;
  return is_new ? AckOutcome::accepted : AckOutcome::duplicate;
}

std::vector<std::string> PendingCheckpoint::missing() const {
  std::vector<std::string> tasks;
  for (const std::string& task : waited_for_) {
    if (!acknowledged_.contains(task)) tasks.push_back(task);
  }
  return tasks;
}

Manifest PendingCheckpoint::manifest_after(const Manifest& previous,
                                           std::uint32_t parallelism) const {
  invariant(is_complete(), "a manifest is made of all acknowledgements");
  Manifest manifest;
  manifest.lineage = previous.lineage;
  manifest.id = id_;
  manifest.fingerprint = previous.fingerprint;
  manifest.key_groups = previous.key_groups;
  manifest.parallelism = parallelism;
  manifest.partitions = previous.partitions;
  for (const auto& [task, acknowledgement] : acknowledged_) {
    for (const PartitionProgress& progress : acknowledgement.partitions) {
      update(manifest.partitions, progress);
    }
    for (const OperatorWatermark& watermark : acknowledgement.watermarks) {
      merge(manifest.watermarks, watermark, watermarks_may_differ_);
    }
    if (acknowledgement.state) manifest.states.push_back(*acknowledgement.state);
    manifest.staged.insert(manifest.staged.end(), acknowledgement.staged.begin(),
                           acknowledgement.staged.end());
    manifest.records_late += acknowledgement.records_late;
  }
  return manifest;
}

}  // namespace millrace
