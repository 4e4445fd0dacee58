#include "millrace/runtime/worker/state_loader.hpp"

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr auto call_patience = 5s;

RestoredSection load(Env& env, const StateObject& object, const StateSection& section) {
  auto bytes =
      env.store.read(object.name, section.offset, section.size_bytes, env.in(call_patience));
  if (!bytes) throw CorruptObject(fmt::format("{}: it is not there", object.name));
  if (bytes->size() != section.size_bytes || checksum(*bytes) != section.checksum) {
    throw CorruptObject(fmt::format("{}: the state `{}` of {} is not what was written", object.name,
                                    section.part, section.operator_name));
  }
  return {object.subtask, section.part, section.shape, std::move(*bytes)};
}

}  // namespace

std::vector<RestoredSection> load_sections(Env& env, const Manifest& manifest,
                                           std::string_view operator_name, Subtask at) {
  std::vector<RestoredSection> sections;
  const GroupRange mine = groups_of(at.index, at.of);
  for (const StateObject& object : manifest.states) {
    const GroupRange written =
        groups_of(static_cast<int>(object.subtask), static_cast<int>(manifest.parallelism));
    // A section also tells the watermark, which every subtask needs; the cheapest way to have it
    // is to read one's own old section, which always overlaps.
    if (!overlap(mine, written)) continue;
    for (const StateSection& section : object.sections) {
      if (section.operator_name == operator_name) sections.push_back(load(env, object, section));
    }
  }
  return sections;
}

std::vector<RestoredPartition> partitions_of(const Manifest& manifest, Subtask at) {
  std::vector<RestoredPartition> partitions;
  for (std::size_t i = 0; i < manifest.partitions.size(); ++i) {
    if (static_cast<int>(i % static_cast<std::size_t>(at.of)) != at.index) continue;
    const ManifestPartition& partition = manifest.partitions[i];
    partitions.push_back({partition.progress, partition.facts.end});
  }
  return partitions;
}

}  // namespace millrace
