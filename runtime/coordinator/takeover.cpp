#include "millrace/runtime/coordinator/takeover.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {
namespace {

std::optional<Mismatch> compare_fingerprints(const std::vector<FingerprintPart>& was,
                                             const std::vector<FingerprintPart>& is) {
  const auto value_of = [](const std::vector<FingerprintPart>& parts, const std::string& key) {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [&](const FingerprintPart& part) { return part.key == key; });
    return found == parts.end() ? std::string("nothing") : "`" + found->value + "`";
  };
  const auto differ = [&](const std::string& key) {
    return Mismatch{Refusal::job_changed,
                    fmt::format("`{}` is {} now and was {} when the state was written", key,
                                value_of(is, key), value_of(was, key))};
  };
  for (const FingerprintPart& part : was) {
    if (value_of(is, part.key) != "`" + part.value + "`") return differ(part.key);
  }
  for (const FingerprintPart& part : is) {
    if (value_of(was, part.key) == "nothing") return differ(part.key);
  }
  return std::nullopt;
}

std::optional<Mismatch> compare_partition(const ManifestPartition& partition,
                                          const std::vector<JobFacts::Partition>& now) {
  const PartitionFacts& was = partition.facts;
  const auto found = std::find_if(now.begin(), now.end(), [&](const JobFacts::Partition& one) {
    return one.source == partition.progress.source && one.facts.name == was.name;
  });
  const auto changed = [&](std::string how) {
    return Mismatch{Refusal::input_changed, fmt::format("partition {} {}", was.name, how)};
  };
  if (found == now.end()) return changed("is not there any more");
  const PartitionFacts* const is = &found->facts;
  if (is->end < was.end) {
    return changed(fmt::format("has {} bytes now and had {}", is->end, was.end));
  }
  // The hash covers the first 4 KiB, or what there was of them: comparable only if as much of them
  // is there still.
  const bool same_reach = is->end == was.end || was.end >= hashed_head_bytes;
  if (same_reach && is->head_hash != was.head_hash) return changed("begins with other bytes now");
  return std::nullopt;
}

}  // namespace

bool Candidacy::observe(std::uint64_t head_version, std::uint64_t heartbeat, Instant now) {
  if (!seen_ || seen_->head_version != head_version || seen_->heartbeat != heartbeat) {
    seen_ = Seen{head_version, heartbeat, now};
    return false;
  }
  return now - seen_->since >= patience_;
}

void Candidacy::lost(std::chrono::nanoseconds extra) {
  patience_ = lease_ + extra;
  seen_.reset();
}

TakeoverPlan decide_takeover(const std::optional<Head>& head, bool fresh) {
  if (!head) return BeginAnew{Term{}.next()};
  if (fresh) return BeginAnew{head->term.next()};
  if (head->status == JobStatus::finished) return NothingLeft{};
  return Resume{head->term.next()};
}

std::optional<Mismatch> find_mismatch(const Manifest& manifest, const JobFacts& job) {
  if (auto mismatch = compare_fingerprints(manifest.fingerprint, job.fingerprint)) return mismatch;
  for (const ManifestPartition& partition : manifest.partitions) {
    if (auto mismatch = compare_partition(partition, job.partitions)) return mismatch;
  }
  if (manifest.key_groups != key_group_count) {
    return Mismatch{
        Refusal::state_unreadable,
        fmt::format("its state is divided into {} key groups, and this program's into {}",
                    manifest.key_groups, key_group_count)};
  }
  return std::nullopt;
}

Manifest make_genesis(Lineage lineage, const JobFacts& job, std::uint32_t parallelism) {
  Manifest genesis;
  genesis.lineage = lineage;
  genesis.fingerprint = job.fingerprint;
  genesis.key_groups = key_group_count;
  genesis.parallelism = parallelism;
  for (const JobFacts::Partition& partition : job.partitions) {
    PartitionProgress progress;
    progress.source = partition.source;
    progress.name = partition.facts.name;
    genesis.partitions.push_back({partition.facts, std::move(progress)});
  }
  return genesis;
}

}  // namespace millrace
