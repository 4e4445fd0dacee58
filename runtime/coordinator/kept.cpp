#include "millrace/runtime/coordinator/kept.hpp"

#include <algorithm>

#include "millrace/env/invariant.hpp"

namespace millrace {
namespace {

KeptCheckpoint entry_of(const Manifest& manifest, std::uint64_t checksum) {
  KeptCheckpoint entry;
  entry.id = manifest.id;
  entry.kind = manifest.kind;
  entry.request = manifest.request;
  entry.manifest = name_of(manifest);
  entry.manifest_checksum = checksum;
  for (const StateObject& state : manifest.states) {
    entry.objects.push_back(state.name);
    for (const StateSection& section : state.sections) entry.size_bytes += section.size_bytes;
  }
  return entry;
}

}  // namespace

std::vector<KeptCheckpoint> kept_after(const Manifest& previous, std::uint64_t checksum,
                                       std::uint32_t retained) {
  invariant(retained >= 1, "the newest checkpoint is always kept");
  std::vector<KeptCheckpoint> all = previous.kept;
  if (previous.id != CheckpointId::genesis() || !previous.states.empty()) {
    all.push_back(entry_of(previous, checksum));
  }
  std::uint32_t left = retained - 1;
  std::vector<KeptCheckpoint> kept;
  for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
    if (!is_pinned(entry->kind) && left == 0) continue;
    if (!is_pinned(entry->kind)) --left;
    kept.push_back(std::move(*entry));
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace millrace
